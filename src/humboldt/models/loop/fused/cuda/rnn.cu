// RNN and, with -DSTACK, Stack-RNN over all time steps: one block per (member, 32 examples).
//
// The stack lies in registers: a thread (example, dimension, half) has 20 of 40 cells.
//
// Macros: HIDDEN (64, 128, 256; with STACK 256), TANH (instead of ReLU), STACK, BACKWARD (instead of forward).
#include "states.cuh"

#ifdef STACK
constexpr int HALF = 20;
// Probabilities as fixed-point numbers of 16 bits.
__device__ __forceinline__ uint32_t pack_fixed(float a, float b) { return __float2uint_rn(a * 65535.f) | __float2uint_rn(b * 65535.f) << 16; }
// Cells are kept as float16 divided by a power of two of the thread's own, whose biased exponent is kept, too.
__device__ __forceinline__ uint32_t pack_half(float a, float b) { __half2 v = __floats2half2_rn(a, b); return *(uint32_t*)&v; }
__device__ __forceinline__ float2 unpack_half(uint32_t v) { return __half22float2(*(__half2*)&v); }
#endif

#define FREE (LOW + 2 * H * H)
constexpr int HEADS_BYTES = H * 32;  // of the weights of layers with 16 outputs, one part
#ifndef BACKWARD
constexpr int SUMS_BYTES = GROUPS * 16 * 36 * 4;
#ifdef STACK
constexpr int READING = FREE, SUMS = READING + 1024, HEADS = SUMS + SUMS_BYTES, BIAS = HEADS + 2 * HEADS_BYTES, RING = BIAS + 64;
#else
constexpr int SUMS = FREE, HEADS = SUMS + 2 * SUMS_BYTES, RING = HEADS + 2 * HEADS_BYTES;
#endif

// symbols [m or 1][B][T]; weights [m][unit][hidden unit]; table [m][symbol][unit]
// reading [m][unit][16] (8 dimensions twice); bias [m][16]; heads [m][H / 16][32][8]: fragments of 16 x hidden units, up to 16 classes or
// (8 values, 3 actions, up to 5 classes)
// outputs, before [m][B][T][H], last [m][B][H]; logits [m][B][T][class], without bias; masks [m][B][T][H / 8]: which units are positive
// read [m][B][T][8]; kept [m][B][T][3][16][8]
extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)
rnn_forward(const Sizes* __restrict__ sizes_at, const int* __restrict__ symbols, const num* __restrict__ weights,
            const uint4* __restrict__ low_weights, const float* __restrict__ table,
            const uint4* __restrict__ head_weights, const uint4* __restrict__ low_heads,
#ifdef STACK
            const num* __restrict__ reading, const num* __restrict__ low_reading, const float* __restrict__ bias,
#endif
            float* __restrict__ outputs, float* __restrict__ logits, note* __restrict__ before, note* __restrict__ last
#ifndef TANH
            , unsigned char* __restrict__ masks
#endif
#ifdef STACK
            , num* __restrict__ read, uint4* __restrict__ kept
#endif
) {
  SHARED_MEMORY(smem);
  const Sizes sizes = *sizes_at;
  const Place p(sizes);
  const int T = sizes.steps;
  const uint32_t base = shared(smem);
  const size_t example = (size_t)p.member * sizes.batch + p.first;  // the block's first
  uint32_t W[STEPS * 4];
  fragments(p, weights + (size_t)p.member * H * H, H, W);
  load_tile(low_weights + (size_t)p.member * (H * H / 8), smem + LOW, H, H, [](int n) { return n; });
  const int classes = sizes.classes;
  const bool keeps = sizes.keeps;
  outputs += example * T * H;
  logits += example * T * classes;
  before += example * T * H;
#ifdef TANH
  const bool writes = keeps || !classes;
  unsigned char* masks = nullptr;
#else
  const bool writes = !classes;
  masks += example * T * (H / 8);
#endif
#ifdef STACK
  const bool has_heads = true;
#else
  const bool has_heads = classes;
#endif
  if (has_heads)
    for (int i = p.tid; i < HEADS_BYTES / 16; i += THREADS) {
      ((uint4*)(smem + HEADS))[i] = head_weights[(size_t)p.member * (HEADS_BYTES / 16) + i];
      ((uint4*)(smem + HEADS + HEADS_BYTES))[i] = low_heads[(size_t)p.member * (HEADS_BYTES / 16) + i];
    }
  auto heads_of = [&](int t, float* sums) {  // of what step t has left in a pair of tiles
    heads(p, (const uint4*)(smem + HEADS), (const uint4*)(smem + HEADS + HEADS_BYTES), base + ((t + 1) & 1) * TILE, sums);
  };

  // Symbols lie in a ring of four steps, written two steps ahead.
  int* ring = (int*)(smem + RING);
  const int* symbol_at = symbols + (size_t)p.member * sizes.symbol_stride + (size_t)(p.first + p.tid) * T;
  const bool has_symbol = p.tid < p.rows;
  auto symbol = [&](int t) { return has_symbol && t < T ? min(max(symbol_at[t], 0), sizes.symbols - 1) : 0; };
  if (p.tid < ROWS) { ring[p.tid] = symbol(0); ring[32 + p.tid] = symbol(1); }
  const float* drives = table + (size_t)p.member * sizes.symbols * H + p.unit;
#ifdef STACK
  uint32_t rd[4], rl[4];
  fragments(p, reading + (size_t)p.member * H * 16, 16, rd);
  fragments(p, low_reading + (size_t)p.member * H * 16, 16, rl);
  if (p.tid < 16) ((float*)(smem + BIAS))[p.tid] = bias[p.member * 16 + p.tid];
  const float* biases = (const float*)(smem + BIAS);
  float s[HALF];
#pragma unroll
  for (int i = 0; i < HALF; i++) s[i] = 0.f;
  const int half = p.tid & 1, dim = (p.tid >> 1) & 7, ex = p.tid >> 4;
  float* sums = (float*)(smem + SUMS);
  uint4* keep_at = kept + (example + ex) * T * 48 + (p.tid & 15);
  read += example * T * 8;
  const bool keeps_stack = keeps && ex < p.rows;
  if (keeps && p.tid < p.rows) *(uint4*)(read + (uint32_t)p.tid * T * 8) = make_uint4(0, 0, 0, 0);
  const bool has_class = half && dim >= 3 && dim - 3 < classes && ex < p.rows;
  float* logit_at = logits + (uint32_t)ex * T * classes + dim - 3;
#else
  auto write_logits = [&](int t, const float* sums) {
#pragma unroll
    for (int k = 0; k < 16 * ROWS / THREADS; k++) {
      const int i = p.tid + k * THREADS, n = i >> 4, c = i & 15;
      if (c < classes && n < p.rows) logits[((uint32_t)n * T + t) * classes + c] = total(sums, c, n);
    }
  };
  auto sums_of = [&](int t) { return (float*)(smem + SUMS + (t & 1) * SUMS_BYTES); };
#endif
  if (keeps) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const int i = p.tid + k * THREADS, n = i / (H / 8), c = i % (H / 8);
      if (n < p.rows) *(uint4*)(before + (uint32_t)n * T * H + 8 * c) = make_uint4(0, 0, 0, 0);
    }
  }
  async_fence();
  __syncthreads();

  float acc[16];
  auto load = [&](float (&to)[16], int t) {  // what the symbols of step t add
    const int2* two = (const int2*)(ring + (t & 3) * 32) + p.pair;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int2 s = two[4 * j];
      const float *x = drives + s.x * H, *y = drives + s.y * H;
      to[4 * j] = x[0]; to[4 * j + 1] = y[0]; to[4 * j + 2] = x[8]; to[4 * j + 3] = y[8];
    }
  };
  auto write = [&](int t) {  // what step t has left in a pair of tiles
    const char* tile = smem + ((t + 1) & 1) * TILE;
    if (writes) write_outputs(p, tile, outputs, T, t);
    if (keeps) write_notes(p, tile, before, masks, T, t + 1, 1.f);
  };
#ifdef STACK
  load(acc, 0);
#else
#pragma unroll
  for (int i = 0; i < 16; i++) acc[i] = 0.f;
#endif
  for (int t = 0; t < T; t++) {
    const int next = symbol(t + 2);
#ifndef STACK
    float drive[16];
#endif
    if (t > 0) {
      keep(acc);
      product_fence();
      const uint32_t states = base + (t & 1) * TILE;
#ifdef STACK
      recurrent(acc, W, base + LOW, p.group, states, 1);
      product_commit();
      write(t - 1);
      heads_of(t - 1, sums);
      __syncthreads();
      if (has_class) logit_at[(t - 1) * classes] = total(sums, 8 + dim, ex);
      float l0 = total(sums, 8, ex) + biases[8], l1 = total(sums, 9, ex) + biases[9], l2 = total(sums, 10, ex) + biases[10];
      const float v = total(sums, dim, ex) + biases[dim], top = fmaxf(l0, fmaxf(l1, l2));
      l0 = __expf(l0 - top); l1 = __expf(l1 - top); l2 = __expf(l2 - top);
      const float inv = __fdividef(1.f, l0 + l1 + l2), push = l0 * inv, pop = l1 * inv, stay = l2 * inv;
      if (keeps_stack) {
        float largest = fabsf(v);
#pragma unroll
        for (int i = 0; i < HALF; i++) largest = fmaxf(largest, fabsf(s[i]));
        const uint32_t exponent = min(max(__float_as_uint(largest) >> 23, 1u), 253u);
        const float inverse = __uint_as_float((254 - exponent) << 23);
        uint32_t word[12];
#pragma unroll
        for (int i = 0; i < 10; i++) word[i] = pack_half(s[2 * i] * inverse, s[2 * i + 1] * inverse);
        word[10] = pack_fixed(push, pop);
        word[11] = (pack_half(v * inverse, 0.f) & 0xFFFF) | exponent << 16;
        uint4* to = keep_at + (uint32_t)(t - 1) * 48;
#pragma unroll
        for (int i = 0; i < 3; i++) __stcs(to + i * 16, make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]));
      }
      const float edge = __shfl_xor_sync(~0u, half ? s[0] : s[HALF - 1], 1);
      float above = half ? edge : v;
      const float last = half ? 0.f : edge;
#pragma unroll
      for (int i = 0; i < HALF; i++) {
        const float old = s[i], below = i + 1 < HALF ? s[i + 1] : last;
        s[i] = push * above + pop * below + stay * old;
        above = old;
      }
      if (!half) {
        const num high = __float2bfloat16_rn(s[0]);
        num* cell = (num*)(smem + READING + (ex >> 3) * 256 + (ex & 7) * 16) + dim;
        cell[0] = high; cell[64] = __float2bfloat16_rn(s[0] - __bfloat162float(high));
      }
      async_fence();
      __syncthreads();
      product_fence();
      product(acc, rd[0], rd[1], rd[2], rd[3], plain(base + READING, 128, 256), 1);
      product(acc, rl[0], rl[1], rl[2], rl[3], plain(base + READING, 128, 256), 1);
      product_commit();
      if (keeps && p.tid < p.rows)
        *(uint4*)(read + ((uint32_t)p.tid * T + t) * 8) = *(const uint4*)(smem + READING + (p.tid >> 3) * 256 + (p.tid & 7) * 16);
#else
      auto read_out = [&]() {
        if (t > 1) write_logits(t - 2, sums_of(t - 2));
        heads_of(t - 1, sums_of(t - 1));
      };
      recurrent(acc, W, base + LOW, p.group, states, 0);
      product_commit();
      write(t - 1);
      if (classes) read_out();
      load(drive, t);
#endif
      product_wait();
      keep(acc);
    }
#ifndef STACK
    else load(drive, t);
#pragma unroll
    for (int i = 0; i < 16; i++) acc[i] += drive[i];
#endif
#pragma unroll
    for (int i = 0; i < 16; i++) acc[i] = activation(acc[i]);
    char* tile = smem + ((t + 1) & 1) * TILE;
    store_states(p, tile, acc);
#ifdef STACK
    load(acc, t + 1);  // after the last step: of symbols that nobody uses
#endif
    if (p.tid < ROWS) ring[((t + 2) & 3) * 32 + p.tid] = next;
    async_fence();
    __syncthreads();
  }
  write(T - 1);
  if (!classes) return;
  if (keeps) write_notes(p, smem + (T & 1) * TILE, last + example * H, 1, 0, 1.f);
#ifdef STACK
  heads_of(T - 1, sums);
  __syncthreads();
  if (has_class) logit_at[(T - 1) * classes] = total(sums, 8 + dim, ex);
#else
  if (T > 1) write_logits(T - 2, sums_of(T - 2));
  heads_of(T - 1, sums_of(T - 1));
  __syncthreads();
  write_logits(T - 1, sums_of(T - 1));
#endif
}

#else  // BACKWARD
// DY: gradients of the outputs of 16 layers on hidden states, in two parts of 1 KB; without a stack two of them, which take turns.
#ifdef STACK
constexpr int DY = FREE, SUMS = DY + 2048, HEADS = SUMS + GROUPS * 16 * 36 * 4;
#else
constexpr int DY = FREE, READOUT = DY + 4096;
#endif

// weights [m][hidden unit][unit]; layers [m][hidden unit][16]: up to 16 classes or (8 values, 3 actions, up to 5 classes)
// reading [m][H / 16][32][8]: fragments of (8 dimensions, 8 zeros) x units
// d_outputs: of hidden states [m][B][T][H] or, with a readout, of logits [m][B][T][class]
// d_drive [m][B][T][H], with TANH times scale [m]; d_taps [m][B][T][16]: row t + 1 for the values, actions and logits of step t
extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)
rnn_backward(const Sizes* __restrict__ sizes_at, const num* __restrict__ weights, const uint4* __restrict__ low_weights,
             const num* __restrict__ layers, const num* __restrict__ low_layers,
#ifdef STACK
             const uint4* __restrict__ reading, const uint4* __restrict__ low_reading, const uint4* __restrict__ kept,
#endif
#ifdef TANH
             const float* __restrict__ scales, const float* __restrict__ outputs,
#else
             const unsigned short* __restrict__ masks,
#endif
             const float* __restrict__ d_outputs, note* __restrict__ d_drive
#ifdef STACK
             , num* __restrict__ d_taps
#endif
) {
  SHARED_MEMORY(smem);
  const Sizes sizes = *sizes_at;
  const Place p(sizes);
  const int T = sizes.steps;
  const uint32_t base = shared(smem);
  const size_t example = (size_t)p.member * sizes.batch + p.first;
  uint32_t W[STEPS * 4];
  fragments(p, weights + (size_t)p.member * H * H, H, W);
  load_tile(low_weights + (size_t)p.member * (H * H / 8), smem + LOW, H, H, [](int n) { return n; });
  const int classes = sizes.classes;
  const float* d_logits = d_outputs + example * T * classes;
  float acc[16];
#pragma unroll
  for (int i = 0; i < 16; i++) acc[i] = 0.f;
  d_drive += example * T * H;
  d_outputs += (example + 2 * p.pair) * T * H + p.unit;
#ifdef TANH
  const float scale = scales[p.member];
  outputs += (example + 2 * p.pair) * T * H + p.unit;
#else
  constexpr float scale = 1.f;
  masks += example * T * (H / 16);
  const int bit = bit_of(p);
#endif
  // This thread's numbers of step t of an array [example][T][H], as in a fragment. 0 for examples that there are not.
  auto load = [&](float (&to)[16], const float* from, int t) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const float* x = from + ((uint32_t)(8 * j + e) * T + t) * H;
        const bool there = 8 * j + 2 * p.pair + e < p.rows;
        to[4 * j + e] = there ? x[0] : 0.f; to[4 * j + 2 + e] = there ? x[8] : 0.f;
      }
  };
#ifdef STACK
  uint32_t act[4], acl[4];
  fragments(p, layers + (size_t)p.member * H * 16, 16, act);
  fragments(p, low_layers + (size_t)p.member * H * 16, 16, acl);
  ((uint4*)(smem + HEADS))[p.tid] = reading[(size_t)p.member * 512 + p.tid];
  ((uint4*)(smem + HEADS + HEADS_BYTES))[p.tid] = low_reading[(size_t)p.member * 512 + p.tid];
  if (p.tid < 128) ((uint4*)(smem + DY))[p.tid] = make_uint4(0, 0, 0, 0);
  float g[HALF];
#pragma unroll
  for (int i = 0; i < HALF; i++) g[i] = 0.f;
  const int half = p.tid & 1, dim = (p.tid >> 1) & 7, ex = p.tid >> 4;
  float* sums = (float*)(smem + SUMS);
  const uint4* keep_at = kept + (example + ex) * T * 48 + (p.tid & 15);
  num* taps_at = d_taps + (example + (p.tid >> 1)) * T * 16 + (p.tid & 1) * 8;  // of the first 64 threads
  const bool writes_taps = p.tid < 2 * p.rows;
  if (writes_taps) *(uint4*)taps_at = make_uint4(0, 0, 0, 0);
  const bool has_stack = ex < p.rows;
  const bool has_class = half && dim >= 3 && dim - 3 < classes && has_stack;
  const float* d_logit_at = d_logits + (uint32_t)ex * T * classes + dim - 3;
  num* cell = (num*)(smem + DY + (ex >> 3) * 256 + (ex & 7) * 16) + half * 64 + dim;
  auto store_cell = [&](float x) {  // of a layer on hidden states
    const num high = __float2bfloat16_rn(x);
    cell[0] = high; cell[512] = __float2bfloat16_rn(x - __bfloat162float(high));
  };
  __syncthreads();
  if (has_class) store_cell(d_logit_at[(T - 1) * classes]);
  auto layers_back = [&](int accumulate) {
    product(acc, act[0], act[1], act[2], act[3], plain(base + DY, 128, 256), accumulate);
    product(acc, act[0], act[1], act[2], act[3], plain(base + DY + 1024, 128, 256), 1);
    product(acc, acl[0], acl[1], acl[2], acl[3], plain(base + DY, 128, 256), 1);
  };
#else
  constexpr int PLACES = 16 * ROWS / THREADS;  // of gradients of logits, for each thread
  auto load_logits = [&](float (&to)[PLACES], int t) {
#pragma unroll
    for (int k = 0; k < PLACES; k++) {
      const int i = p.tid + k * THREADS, n = i >> 4, c = i & 15;
      to[k] = c < classes && n < p.rows ? d_logits[((uint32_t)n * T + t) * classes + c] : 0.f;
    }
  };
  auto store_logits = [&](const float (&from)[PLACES], int n) {
#pragma unroll
    for (int k = 0; k < PLACES; k++) {
      const int i = p.tid + k * THREADS, row = i >> 4, c = i & 15;
      num* cell = (num*)(smem + DY + (n & 1) * 2048 + (row >> 3) * 256 + (c >> 3) * 128 + (row & 7) * 16) + (c & 7);
      const num high = __float2bfloat16_rn(from[k]);
      cell[0] = high; cell[512] = __float2bfloat16_rn(from[k] - __bfloat162float(high));
    }
  };
  auto readout_back = [&](int n) {  // what gradients of logits of step T - 1 - n add; nothing, if outputs are hidden states
    const uint64_t high = plain(base + READOUT + p.group * 2048, 128, 256), low = plain(base + READOUT + HEADS_BYTES + p.group * 2048, 128, 256);
    const uint32_t from = base + DY + (n & 1) * 2048;
    product(acc, high, plain(from, 128, 256), n > 0);
    product(acc, high, plain(from + 1024, 128, 256), 1);
    product(acc, low, plain(from, 128, 256), 1);
  };
  for (int i = p.tid; i < HEADS_BYTES / 16; i += THREADS) {
    char* to = smem + READOUT + (i >> 4) * 256 + (i & 1) * 128 + (i >> 1 & 7) * 16;
    *(uint4*)to = ((const uint4*)(layers + (size_t)p.member * H * 16))[i];
    *(uint4*)(to + HEADS_BYTES) = ((const uint4*)(low_layers + (size_t)p.member * H * 16))[i];
  }
  {
    float first[PLACES];
    load_logits(first, T - 1);
    store_logits(first, 0);
  }
#endif
  async_fence();
  __syncthreads();

  for (int n = 0; n < T; n++) {
    const int t = T - 1 - n;
    float d[16];
#ifdef TANH
    float h[16];
#else
    uint32_t words[8];
#endif
    auto load_step = [&]() {  // while the products of the step run
      if (!classes) load(d, d_outputs, t);
#ifdef TANH
      load(h, outputs, t);
#elif !defined(STACK)
      load_masks(p, words, masks, T, t);
#endif
    };
#ifdef STACK
    load_masks(p, words, masks, T, t);
    if (t > 0 && !classes && p.tid < 8 * p.rows)  // what the next step needs, on its way to the L2 cache
      prefetch(d_outputs + ((p.tid >> 3) * T + t - 1) * H + (p.tid & 7) * 32 - (2 * p.pair * T * H + p.unit));
    const float d_logit = has_class ? d_logit_at[t * classes] : 0.f;
#else
    float next[PLACES];
    load_logits(next, max(t - 1, 0));
#endif
    if (n > 0) {
#ifdef STACK
      uint4 kv[3];
      const uint4* from = keep_at + (uint32_t)t * 48;
#pragma unroll
      for (int i = 0; i < 3; i++) kv[i] = has_stack ? __ldcs(from + i * 16) : make_uint4(0, 0, 0, 0);
#endif
      keep(acc);
      product_fence();
      const uint32_t states = base + (n & 1) * TILE;
      recurrent(acc, W, base + LOW, p.group, states, 0);
#ifndef STACK
      readout_back(n);
#endif
      product_commit();
      write_notes(p, smem + (n & 1) * TILE, d_drive, T, t + 1, scale);
#ifdef STACK
      heads(p, (const uint4*)(smem + HEADS), (const uint4*)(smem + HEADS + HEADS_BYTES), states, sums);
      __syncthreads();
      if (!half) g[0] += total(sums, dim, ex);
#define WORD(i) (((i) & 3) == 0 ? kv[(i) >> 2].x : ((i) & 3) == 1 ? kv[(i) >> 2].y : ((i) & 3) == 2 ? kv[(i) >> 2].z : kv[(i) >> 2].w)
      const float push = (WORD(10) & 0xFFFF) * (1.f / 65535.f), pop = (WORD(10) >> 16) * (1.f / 65535.f), stay = 1.f - push - pop;
      const float unit = __uint_as_float((WORD(11) >> 16) << 23), v = unpack_half(WORD(11)).x * unit;
      const float edge = __shfl_xor_sync(~0u, (half ? unpack_half(WORD(0)).x : unpack_half(WORD(9)).y) * unit, 1);  // of the stack
      const float g_edge = __shfl_xor_sync(~0u, half ? g[0] : g[HALF - 1], 1);
      float above = half ? edge : v, d_push = 0.f, d_pop = 0.f, d_stay = 0.f;
      const float d_value = push * g[0];
      float g_above = half ? g_edge : 0.f;
      const float last = half ? 0.f : edge, g_last = half ? 0.f : g_edge;
#pragma unroll
      for (int i = 0; i < HALF; i++) {
        const float2 two = unpack_half(WORD(i >> 1));
        const float old = ((i & 1) ? two.y : two.x) * unit;
        const float below = i + 1 == HALF ? last : ((i & 1) ? unpack_half(WORD((i + 1) >> 1)).x : two.y) * unit;
        const float gi = g[i], g_below = i + 1 == HALF ? g_last : g[i + 1];
        d_push = fmaf(above, gi, d_push); d_pop = fmaf(below, gi, d_pop); d_stay = fmaf(old, gi, d_stay);
        g[i] = push * g_below + pop * g_above + stay * gi;
        above = old; g_above = gi;
      }
#pragma unroll
      for (int o = 1; o < 16; o <<= 1) {
        d_push += __shfl_xor_sync(~0u, d_push, o); d_pop += __shfl_xor_sync(~0u, d_pop, o); d_stay += __shfl_xor_sync(~0u, d_stay, o);
      }
      const float mean = push * d_push + pop * d_pop + stay * d_stay;
      const float mine = !half ? d_value : dim == 0 ? push * (d_push - mean) : dim == 1 ? pop * (d_pop - mean) : dim == 2 ? stay * (d_stay - mean) : d_logit;
      if (!half || dim < 3 || has_class) store_cell(mine);
      async_fence();
      __syncthreads();
      if (writes_taps) *(uint4*)(taps_at + (uint32_t)(t + 1) * 16) = *(const uint4*)(smem + DY + (p.tid >> 4) * 256 + (p.tid & 1) * 128 + (p.tid >> 1 & 7) * 16);
      product_fence();
      layers_back(1);
      product_commit();
#endif
      load_step();
      product_wait();
      keep(acc);
    } else {
      keep(acc);
      product_fence();
#ifdef STACK
      layers_back(0);
#else
      readout_back(0);
#endif
      product_commit();
      load_step();
      product_wait();
      keep(acc);
    }
    if (!classes) {
#pragma unroll
      for (int i = 0; i < 16; i++) acc[i] += d[i];
    }
#ifdef TANH
#pragma unroll
    for (int i = 0; i < 16; i++) acc[i] *= 1.f - h[i] * h[i];
#else
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int x = 4 * (i >> 1) + (i & 1);
      acc[x] = words[i] >> bit & 1 ? acc[x] : 0.f;
      acc[x + 2] = words[i] >> (bit + 8) & 1 ? acc[x + 2] : 0.f;
    }
#endif
#ifndef STACK
    store_logits(next, n + 1);
#endif
    char* tile = smem + ((n + 1) & 1) * TILE;
    store_states(p, tile, acc);
    async_fence();
    __syncthreads();
  }
  write_notes(p, smem + (T & 1) * TILE, d_drive, T, 0, scale);
}
#endif
