// Tape-RNN over all time steps: one block per (member, 32 examples).
//
// Every action moves the tape round its ring. So the kernel keeps the tape's discrete Fourier transform, in which a move is one
// factor for each frequency: no place needs another, whatever the ring and the jump, and a step is one pass over the tape.
// Place k has the real part x and the imaginary part y of frequency k. The frequencies 0 and ring / 2 are real: they are x and
// y of place 0. With u, the value to write minus what is in the cell below the head, a mixture of actions does
//
//   x' = a x - b y + p u,    y' = b x + c y + q u
//
// and the cell below the head, the reading, is the mean of all frequencies. The tape lies in global memory, for the most part in
// the L2 cache: a warp reads and writes those of two examples. For the backward pass it is also written as bfloat16, at every step.
//
// Three layers lead from hidden states to values: their inner states are tiles of 64 columns, in place of the states to come.
//
// Macros: BACKWARD (instead of forward).
#include "states.cuh"

struct TapeSizes {
  Sizes sizes;
  int places;       // of a tape in memory; a shorter ring uses the first of them
  int jumps_write;  // whether jumps write first
};
constexpr int SIDE_PART = ROWS * 128, SIDE = 2 * SIDE_PART;  // a tile of 64 columns, high and low part
constexpr int FREE = LOW + 2 * H * H, INNER = FREE, INNER_PART = 640 * 16;
// Fragments of 16 x 16 weights [tile of rows][tile of columns][32][8], of one member: first all high parts, then all low parts.
constexpr int READING = 0, FIRST = 512, ACTION = FIRST + 2048, SECOND = ACTION + 512, THIRD = SECOND + 512, READOUT = THIRD + 128;
#ifdef BACKWARD
constexpr int LAYERS = READOUT + 512;
#else
constexpr int LAYERS = READOUT;
#endif

struct Actions {
  float stay, left, right, jump_left, jump_right;
};
struct Factors {
  float a, b, c, p, q;
};
// `turn` of place k: cosine and sine of the angles by which a move of one cell, and a jump, turn its frequency. At place 0 there
// are instead the cosines (1, which are all of the turn) of frequency 0 and, in place of sines, of frequency ring / 2.
__device__ __forceinline__ Factors factors(const Actions& m, float4 turn, bool is_first, float writes) {
  const float moves = m.left + m.right, jumps = m.jump_left + m.jump_right;
  const float turned = is_first ? moves : m.left - m.right, jumped = is_first ? jumps : m.jump_left - m.jump_right;
  const float a = fmaf(moves, turn.x, m.stay), b = turned * turn.y, ja = jumps * turn.z, jb = jumped * turn.w;
  Factors f;
  f.a = a + ja;
  f.b = is_first ? 0.f : b + jb;
  f.c = is_first ? m.stay + b + jb : f.a;
  f.p = fmaf(writes, ja, a);
  f.q = fmaf(writes, jb, is_first ? m.stay + b : b);
  return f;
}
__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
// (16 x 16 N) times a tile of examples, for the 8 examples of this warp. `part`: from the high to the low part of the tile.
template <int N> __device__ __forceinline__ void layer(const Place& p, float (&d)[4], const uint4* high, const uint4* low, uint32_t tile, int part) {
#pragma unroll
  for (int c = 0; c < N / 2; c++) {
    uint32_t v[4], l[4];
    const int n = 8 * p.warp + (p.lane & 7), chunk = 4 * c + (p.lane >> 3);
    const uint32_t at = tile + piece(n, chunk, ROWS);
    load_matrices(v, at); load_matrices(l, at + part);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const uint4 w = high[(2 * c + k) * 32 + p.lane];
      small_product(d, w, v[2 * k], v[2 * k + 1]); small_product(d, w, l[2 * k], l[2 * k + 1]);
      small_product(d, low[(2 * c + k) * 32 + p.lane], v[2 * k], v[2 * k + 1]);
    }
  }
}
// A layer on eight numbers of each example, in `from`: high and low parts of them are 16 columns, and the weights are there twice.
__device__ __forceinline__ void narrow_layer(const Place& p, float (&d)[4], uint4 high, uint4 low, const float* from, int eight) {
  const float2 x = *(const float2*)(from + (8 * eight + (p.lane >> 2)) * 8 + 2 * p.pair);
  const uint32_t b = pack(x.x, x.y), l = rest(x.x, x.y, b);
  small_product(d, high, b, l); small_product(d, low, b, l);
}
// This warp's 16 of 64 inner units, of 8 examples: number i of a thread is unit 16 group + lane / 4 (+ 8), example 8 warp + 2 pair (+ 1).
__device__ __forceinline__ void store_side(const Place& p, char* tile, const float (&d)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int unit = 16 * p.group + (p.lane >> 2) + 8 * (i >> 1), n = 8 * p.warp + 2 * p.pair + (i & 1);
    num* at = (num*)(tile + piece(n, unit >> 3, ROWS)) + (unit & 7);
    const num high = __float2bfloat16_rn(d[i]);
    at[0] = high; at[SIDE_PART / 2] = __float2bfloat16_rn(d[i] - __bfloat162float(high));
  }
}
__device__ __forceinline__ void write_side(const Place& p, const char* tile, num* out, int T, int t) {
  const int n = p.tid >> 3, c = p.tid & 7;
  if (n < p.rows) *(uint4*)(out + ((uint32_t)n * T + t) * 64 + 8 * c) = *(const uint4*)(tile + piece(n, c, ROWS));
}
__device__ __forceinline__ float number(const float4& x, int i) { return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w; }

#ifndef BACKWARD
constexpr int READS = INNER + 2 * INNER_PART, VALUES = READS + 1024, BIAS = VALUES + 1024, RING = BIAS + 640;

// symbols [m or 1][B][T]; rings [m or 1][B]; turns [m or 1][B][places]; weights [m][unit][hidden unit]; table [m][symbol][unit]
// layers [m][2][LAYERS]: reading (unit x 8 dimensions twice), first (64 x hidden unit), actions and classes (5 and 8 of 16 x hidden unit), second, third (8 of 16 x 64)
// bias [m][160]: of first, second, third (16) and actions (16)
// outputs, before [m][B][T][H], last [m][B][H]; logits [m][B][T][class], without bias; masks [m][B][T][H / 8]; read [m][B][T][8]; first, second [m][B][T][64]: row t + 1 for step t
// tape [m][B][2 halves][x, y][places]: four dimensions; kept [m][B][T][half][places]: x and y of four dimensions; acted [m][B][T][16]: u, actions
extern "C" __global__ void __launch_bounds__(THREADS, 1)
tape_forward(const TapeSizes* __restrict__ sizes_at, const int* __restrict__ symbols, const int* __restrict__ rings, const float4* __restrict__ turns,
             const num* __restrict__ weights, const uint4* __restrict__ low_weights, const float* __restrict__ table,
             const uint4* __restrict__ layers, const float* __restrict__ bias,
             float* __restrict__ outputs, float* __restrict__ logits, float4* __restrict__ tape, num* __restrict__ before, num* __restrict__ last, unsigned char* __restrict__ masks,
             num* __restrict__ read, num* __restrict__ first, num* __restrict__ second, uint4* __restrict__ kept, float* __restrict__ acted) {
  SHARED_MEMORY(smem);
  const Sizes sizes = sizes_at->sizes;
  const Place p(sizes);
  const int T = sizes.steps, places = sizes_at->places;
  const float writes = sizes_at->jumps_write ? 1.f : 0.f;
  const uint32_t base = shared(smem);
  const size_t example = (size_t)p.member * sizes.batch + p.first;  // the block's first
  const size_t string = (sizes.symbol_stride ? (size_t)p.member * sizes.batch : 0) + p.first;
  rings += string; turns += string * places;
  uint32_t W[STEPS * 4];
  fragments(p, weights + (size_t)p.member * H * H, H, W);
  load_tile(low_weights + (size_t)p.member * (H * H / 8), smem + LOW, H, H, [](int n) { return n; });
  const int classes = sizes.classes;
  if (classes) logits += example * T * classes;
  else outputs += example * T * H;
  auto write_logits = [&](int t, const float* sums) {
    const int n = p.tid >> 4, c = p.tid & 15;
    if (c < classes && n < p.rows) logits[((uint32_t)n * T + t) * classes + c] = total(sums, 5 + c, n);
  };
  const bool keeps = sizes.keeps;
  if (keeps) {
    before += example * T * H; masks += example * T * (H / 8); read += example * T * 8;
    first += example * T * 64; second += example * T * 64;
  }
  const uint4 *high = layers + (size_t)p.member * 2 * LAYERS, *low = high + LAYERS;
  const uint4 *inner = (const uint4*)(smem + INNER), *low_inner = (const uint4*)(smem + INNER + INNER_PART);
  for (int i = p.tid; i < 640; i += THREADS) {
    ((uint4*)(smem + INNER))[i] = high[SECOND + i];
    ((uint4*)(smem + INNER + INNER_PART))[i] = low[SECOND + i];
  }
  float *reads = (float*)(smem + READS), *values = (float*)(smem + VALUES), *biases = (float*)(smem + BIAS);
  if (p.tid < 256) { reads[p.tid] = 0.f; values[p.tid] = 0.f; }
  if (p.tid < 160) biases[p.tid] = bias[p.member * 160 + p.tid];

  // Symbols lie in a ring of four steps, written two steps ahead.
  int* ring = (int*)(smem + RING);
  const int* symbol_at = symbols + (size_t)p.member * sizes.symbol_stride + (size_t)(p.first + p.tid) * T;
  const bool has_symbol = p.tid < p.rows;
  auto symbol = [&](int t) { return has_symbol && t < T ? min(max(symbol_at[t], 0), sizes.symbols - 1) : 0; };
  if (p.tid < ROWS) { ring[p.tid] = symbol(0); ring[32 + p.tid] = symbol(1); }
  const float* drives = table + (size_t)p.member * sizes.symbols * H + p.unit;
  if (keeps) {  // nothing was before the first step
    const uint4 zero = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const int i = p.tid + k * THREADS, n = i / (H / 8), c = i % (H / 8);
      if (n < p.rows) *(uint4*)(before + (uint32_t)n * T * H + 8 * c) = zero;
    }
    if (p.tid < p.rows) *(uint4*)(read + (uint32_t)p.tid * T * 8) = zero;
    const int n = p.tid >> 3;
    if (n < p.rows) {
      *(uint4*)(first + (uint32_t)n * T * 64 + 8 * (p.tid & 7)) = zero;
      *(uint4*)(second + (uint32_t)n * T * 64 + 8 * (p.tid & 7)) = zero;
    }
  }
  async_fence();
  __syncthreads();

  const int unit = 16 * p.group + (p.lane >> 2);  // of an inner layer
  float acc[16];
  auto start = [&](int t) {  // with what the symbols of step t add
    const int2* two = (const int2*)(ring + (t & 3) * 32) + p.pair;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int2 s = two[4 * j];
      const float *x = drives + s.x * H, *y = drives + s.y * H;
      acc[4 * j] = x[0]; acc[4 * j + 1] = y[0]; acc[4 * j + 2] = x[8]; acc[4 * j + 3] = y[8];
    }
  };
  start(0);
  for (int t = 0; t < T; t++) {
    const int next = symbol(t + 2);
    if (t > 0) {
      const uint32_t states = base + (t & 1) * TILE;
      char* scratch = smem + ((t + 1) & 1) * TILE;
      float* sums = (float*)(scratch + PART);
      keep(acc);
      product_fence();
      recurrent(acc, W, base + LOW, p.group, states, 1);
      product_commit();
      // Meanwhile: what step t - 1 wants to do to the tape.
      heads(p, high + ACTION, low + ACTION, states, sums);
      {
        float d[4] = {biases[unit], biases[unit], biases[unit + 8], biases[unit + 8]};
        layer<16>(p, d, high + FIRST + p.group * 512, low + FIRST + p.group * 512, states, PART);
#pragma unroll
        for (int i = 0; i < 4; i++) d[i] = relu(d[i]);
        store_side(p, scratch, d);
      }
      __syncthreads();
      write_logits(t - 1, sums);
      {
        float d[4] = {biases[64 + unit], biases[64 + unit], biases[72 + unit], biases[72 + unit]};
        layer<4>(p, d, inner + p.group * 128, low_inner + p.group * 128, shared(scratch), SIDE_PART);
#pragma unroll
        for (int i = 0; i < 4; i++) d[i] = relu(d[i]);
        store_side(p, scratch + SIDE, d);
      }
      if (keeps && p.tid < 256) write_side(p, scratch, first, T, t);
      __syncthreads();
      if (p.group == 0) {
        const int dim = p.lane >> 2, n = 8 * p.warp + 2 * p.pair;
        float d[4] = {biases[128 + dim], biases[128 + dim], 0.f, 0.f};
        layer<4>(p, d, inner + 512, low_inner + 512, shared(scratch + SIDE), SIDE_PART);
        values[n * 8 + dim] = d[0]; values[n * 8 + 8 + dim] = d[1];
      }
      if (keeps && p.tid < 256) write_side(p, scratch + SIDE, second, T, t);
      __syncthreads();
      product_wait();
      keep(acc);

#pragma unroll 1
      for (int i = 0; i < 4; i++) {
        const int ex = 2 * (p.tid >> 5) + (i >> 1), half = i & 1;
        if (ex >= p.rows) break;
        Actions m;
        {
          float l0 = total(sums, 0, ex) + biases[144], l1 = total(sums, 1, ex) + biases[145], l2 = total(sums, 2, ex) + biases[146];
          float l3 = total(sums, 3, ex) + biases[147], l4 = total(sums, 4, ex) + biases[148];
          const float top = fmaxf(fmaxf(l0, fmaxf(l1, l2)), fmaxf(l3, l4));
          l0 = __expf(l0 - top); l1 = __expf(l1 - top); l2 = __expf(l2 - top); l3 = __expf(l3 - top); l4 = __expf(l4 - top);
          const float inverse = __fdividef(1.f, l0 + l1 + l2 + l3 + l4);
          m = Actions{l0 * inverse, l1 * inverse, l2 * inverse, l3 * inverse, l4 * inverse};
        }
        if (keeps && half == 0 && p.lane < 16) {
          const int j = p.lane & 7;
          const float action = j == 0 ? m.stay : j == 1 ? m.left : j == 2 ? m.right : j == 3 ? m.jump_left : j == 4 ? m.jump_right : 0.f;
          acted[((example + ex) * T + t - 1) * 16 + p.lane] = p.lane < 8 ? values[ex * 8 + j] - reads[ex * 8 + j] : action;
        }
        float u[4], r[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
        for (int d = 0; d < 4; d++) u[d] = values[ex * 8 + 4 * half + d] - reads[ex * 8 + 4 * half + d];
        float4 *xs = tape + ((example + ex) * 4 + 2 * half) * places, *ys = xs + places;
        uint4* keep_at = kept + (((example + ex) * T + t - 1) * 2 + half) * places;
        const float4* turn_at = turns + (size_t)ex * places;
        const int count = rings[ex] >> 1;
        const bool is_empty = t == 1, keeps_tape = keeps && !is_empty;
        constexpr int WIDE = 2;  // places of a lane that are on their way at the same time
#pragma unroll 1
        for (int first_place = p.lane; first_place < count; first_place += 32 * WIDE) {
          float4 x[WIDE], y[WIDE], turn[WIDE];
#pragma unroll
          for (int j = 0; j < WIDE; j++) {
            const int k = first_place + 32 * j;
            const bool there = k < count && !is_empty;
            x[j] = there ? __ldcg(xs + k) : make_float4(0.f, 0.f, 0.f, 0.f);
            y[j] = there ? __ldcg(ys + k) : make_float4(0.f, 0.f, 0.f, 0.f);
            turn[j] = turn_at[min(k, count - 1)];
          }
#pragma unroll
          for (int j = 0; j < WIDE; j++) {
            const int k = first_place + 32 * j;
            if (k >= count) break;
            if (keeps_tape) __stcs(keep_at + k, make_uint4(pack(x[j].x, x[j].y), pack(x[j].z, x[j].w), pack(y[j].x, y[j].y), pack(y[j].z, y[j].w)));
            const Factors f = factors(m, turn[j], k == 0, writes);
            const float4 nx = make_float4(fmaf(f.a, x[j].x, fmaf(-f.b, y[j].x, f.p * u[0])), fmaf(f.a, x[j].y, fmaf(-f.b, y[j].y, f.p * u[1])),
                                          fmaf(f.a, x[j].z, fmaf(-f.b, y[j].z, f.p * u[2])), fmaf(f.a, x[j].w, fmaf(-f.b, y[j].w, f.p * u[3])));
            const float4 ny = make_float4(fmaf(f.b, x[j].x, fmaf(f.c, y[j].x, f.q * u[0])), fmaf(f.b, x[j].y, fmaf(f.c, y[j].y, f.q * u[1])),
                                          fmaf(f.b, x[j].z, fmaf(f.c, y[j].z, f.q * u[2])), fmaf(f.b, x[j].w, fmaf(f.c, y[j].w, f.q * u[3])));
            __stcg(xs + k, nx); __stcg(ys + k, ny);
#pragma unroll
            for (int d = 0; d < 4; d++) r[d] += k == 0 ? 0.5f * (number(nx, d) + number(ny, d)) : number(nx, d);
          }
        }
        const float mean = __fdividef(1.f, (float)count);
#pragma unroll
        for (int d = 0; d < 4; d++) r[d] = sum_of_warp(r[d]) * mean;
        __syncwarp();
        if (p.lane == 0) *(float4*)(reads + ex * 8 + 4 * half) = make_float4(r[0], r[1], r[2], r[3]);
      }
      const uint4 rd = high[READING + (p.tid >> 5) * 32 + p.lane], rl = low[READING + (p.tid >> 5) * 32 + p.lane];
      __syncthreads();
#pragma unroll
      for (int j = 0; j < 4; j++) narrow_layer(p, *(float(*)[4]) & acc[4 * j], rd, rl, reads, j);
      if (keeps && p.tid < p.rows) {
        const float* r = reads + p.tid * 8;
        *(uint4*)(read + ((uint32_t)p.tid * T + t) * 8) = make_uint4(pack(r[0], r[1]), pack(r[2], r[3]), pack(r[4], r[5]), pack(r[6], r[7]));
      }
    }
#pragma unroll
    for (int i = 0; i < 16; i++) acc[i] = relu(acc[i]);
    char* tile = smem + ((t + 1) & 1) * TILE;
    store_states(p, tile, acc);
    start(t + 1);  // after the last step: of symbols that nobody uses
    if (p.tid < ROWS) ring[((t + 2) & 3) * 32 + p.tid] = next;
    async_fence();
    __syncthreads();
    if (!classes) write_outputs(p, tile, outputs, T, t);
    if (keeps) write_notes(p, tile, before, masks, T, t + 1, 1.f);
  }
  if (!classes) return;
  const int end = T & 1;
  float* sums = (float*)(smem + (1 - end) * TILE + PART);
  heads(p, high + ACTION, low + ACTION, base + end * TILE, sums);
  if (keeps) write_notes(p, smem + end * TILE, last + example * H, 1, 0, 1.f);
  __syncthreads();
  write_logits(T - 1, sums);
}

#else  // BACKWARD
constexpr int D_WRITTEN = INNER + 2 * INNER_PART, D_LOGITS = D_WRITTEN + 1024, D_CLASSES = D_LOGITS + 1024;

// layers [m][2][LAYERS]: reading (8 of 16 dimensions x unit), first (hidden unit x 64), actions (hidden unit x 8 actions twice), second, third (64 x 8 values twice), readout (hidden unit x 8 classes twice)
// d_outputs: of hidden states [m][B][T][H] or, with a readout, of logits [m][B][T][class]
// d_tape: as tape in the forward pass; d_drive [m][B][T][H]; d_first, d_second [m][B][T][64], d_taps [m][B][T][16]: row t + 1 for the layers and actions of step t
extern "C" __global__ void __launch_bounds__(THREADS, 1)
tape_backward(const TapeSizes* __restrict__ sizes_at, const int* __restrict__ rings, const float4* __restrict__ turns,
              const num* __restrict__ weights, const uint4* __restrict__ low_weights, const uint4* __restrict__ layers,
              const unsigned short* __restrict__ masks, const num* __restrict__ first, const num* __restrict__ second,
              const uint4* __restrict__ kept, const float* __restrict__ acted, const float* __restrict__ d_outputs,
              float4* __restrict__ d_tape, num* __restrict__ d_drive, num* __restrict__ d_first, num* __restrict__ d_second, num* __restrict__ d_taps) {
  SHARED_MEMORY(smem);
  const Sizes sizes = sizes_at->sizes;
  const Place p(sizes);
  const int T = sizes.steps, places = sizes_at->places;
  const float writes = sizes_at->jumps_write ? 1.f : 0.f;
  const uint32_t base = shared(smem);
  const size_t example = (size_t)p.member * sizes.batch + p.first;
  const size_t string = (sizes.symbol_stride ? (size_t)p.member * sizes.batch : 0) + p.first;
  rings += string; turns += string * places;
  uint32_t W[STEPS * 4];
  fragments(p, weights + (size_t)p.member * H * H, H, W);
  load_tile(low_weights + (size_t)p.member * (H * H / 8), smem + LOW, H, H, [](int n) { return n; });
  d_drive += example * T * H; d_first += example * T * 64; d_second += example * T * 64; d_taps += example * T * 16;
  const int classes = sizes.classes;
  const float* d_classes_at = d_outputs + (example + (p.tid >> 3)) * T * classes + (p.tid & 7);
  const bool has_class = (p.tid & 7) < classes && (p.tid >> 3) < p.rows;
  d_outputs += (example + 2 * p.pair) * T * H + p.unit;
  masks += example * T * (H / 16);
  first += example * T * 64; second += example * T * 64;
  const int bit = bit_of(p);
  const uint4 *high = layers + (size_t)p.member * 2 * LAYERS, *low = high + LAYERS;
  const uint4 *inner = (const uint4*)(smem + INNER), *low_inner = (const uint4*)(smem + INNER + INNER_PART);
  for (int i = p.tid; i < 640; i += THREADS) {
    ((uint4*)(smem + INNER))[i] = high[SECOND + i];
    ((uint4*)(smem + INNER + INNER_PART))[i] = low[SECOND + i];
  }
  float *d_written = (float*)(smem + D_WRITTEN), *d_logits = (float*)(smem + D_LOGITS);
  auto d_classes = [&](int n) { return (float*)(smem + D_CLASSES + (n & 1) * 1024); };  // of step T - 1 - n
  if (p.tid < 256) {
    d_written[p.tid] = 0.f; d_logits[p.tid] = 0.f;
    d_classes(0)[p.tid] = has_class ? d_classes_at[(T - 1) * classes] : 0.f;
  }
  {
    const uint4 zero = make_uint4(0, 0, 0, 0);
    const int n = p.tid >> 3;
    if (p.tid < 256 && n < p.rows) {
      *(uint4*)(d_first + (uint32_t)n * T * 64 + 8 * (p.tid & 7)) = zero;
      *(uint4*)(d_second + (uint32_t)n * T * 64 + 8 * (p.tid & 7)) = zero;
    }
    if (p.tid < 2 * p.rows) *(uint4*)(d_taps + (uint32_t)(p.tid >> 1) * T * 16 + 8 * (p.tid & 1)) = zero;
  }
  async_fence();
  __syncthreads();

  float acc[16];
#pragma unroll
  for (int i = 0; i < 16; i++) acc[i] = 0.f;
  for (int n = 0; n < T; n++) {
    const int t = T - 1 - n;
    const float d_class = has_class && t > 0 ? d_classes_at[(t - 1) * classes] : 0.f;
    if (t > 0 && !classes && p.tid < 8 * p.rows)  // what the next step needs, on its way to the L2 cache
      prefetch(d_outputs + ((p.tid >> 3) * T + t - 1) * H + (p.tid & 7) * 32 - (2 * p.pair * T * H + p.unit));
    if (n > 0) {
      const uint32_t states = base + (n & 1) * TILE;
      char* scratch = smem + ((n + 1) & 1) * TILE;
      float* sums = (float*)(scratch + PART);
      // The gradient of what step t + 1 has read, and with it through what step t did to the tape.
      heads(p, high + READING, low + READING, states, sums);
      __syncthreads();
      float d_stay, d_moves, d_turns, d_jumps, d_jump_turns;
#pragma unroll 1
      for (int i = 0; i < 4; i++) {
        const int ex = 2 * (p.tid >> 5) + (i >> 1), half = i & 1;
        if (ex >= p.rows) break;
        const float4* done = (const float4*)(acted + ((example + ex) * T + t) * 16);
        Actions m;
        { const float4 four = done[2], last = done[3]; m = Actions{four.x, four.y, four.z, four.w, last.x}; }
        const float4 u = done[half];
        const int count = rings[ex] >> 1;
        const float mean = __fdividef(1.f, (float)count);
        float d_read[4], d_u[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
        for (int d = 0; d < 4; d++) d_read[d] = (total(sums, 4 * half + d, ex) - d_written[ex * 8 + 4 * half + d]) * mean;
        if (half == 0) d_stay = d_moves = d_turns = d_jumps = d_jump_turns = 0.f;
        float4 *xs = d_tape + ((example + ex) * 4 + 2 * half) * places, *ys = xs + places;
        const uint4* kept_at = kept + (((example + ex) * T + t) * 2 + half) * places;
        const float4* turn_at = turns + (size_t)ex * places;
        const bool is_last = n == 1, is_first = t == 0;
#pragma unroll 1
        for (int k = p.lane; k < count; k += 32) {
          float4 x = make_float4(0.f, 0.f, 0.f, 0.f), y = x;  // gradients
          if (!is_last) { x = __ldcg(xs + k); y = __ldcg(ys + k); }
          const uint4 old = is_first ? make_uint4(0, 0, 0, 0) : __ldcs(kept_at + k);
          const float4 turn = turn_at[k];
          const Factors f = factors(m, turn, k == 0, writes);
          const float at_x = k == 0 ? 0.5f : 1.f, at_y = k == 0 ? 0.5f : 0.f;
          x.x = fmaf(at_x, d_read[0], x.x); x.y = fmaf(at_x, d_read[1], x.y); x.z = fmaf(at_x, d_read[2], x.z); x.w = fmaf(at_x, d_read[3], x.w);
          y.x = fmaf(at_y, d_read[0], y.x); y.y = fmaf(at_y, d_read[1], y.y); y.z = fmaf(at_y, d_read[2], y.z); y.w = fmaf(at_y, d_read[3], y.w);
          d_u[0] = fmaf(f.p, x.x, fmaf(f.q, y.x, d_u[0])); d_u[1] = fmaf(f.p, x.y, fmaf(f.q, y.y, d_u[1]));
          d_u[2] = fmaf(f.p, x.z, fmaf(f.q, y.z, d_u[2])); d_u[3] = fmaf(f.p, x.w, fmaf(f.q, y.w, d_u[3]));
          const float2 x0 = unpack(old.x), x2 = unpack(old.y), y0 = unpack(old.z), y2 = unpack(old.w);
          const float dp = x.x * u.x + x.y * u.y + x.z * u.z + x.w * u.w, dq = y.x * u.x + y.y * u.y + y.z * u.z + y.w * u.w;
          const float da = x.x * x0.x + x.y * x0.y + x.z * x2.x + x.w * x2.y, dc = y.x * y0.x + y.y * y0.y + y.z * y2.x + y.w * y2.y;
          const float db = y.x * x0.x + y.y * x0.y + y.z * x2.x + y.w * x2.y - (x.x * y0.x + x.y * y0.y + x.z * y2.x + x.w * y2.y);
          if (k == 0) {
            d_stay += da + dc + dp + dq;
            d_moves += turn.x * (da + dp) + turn.y * (dc + dq);
            d_jumps += turn.z * fmaf(writes, dp, da) + turn.w * fmaf(writes, dq, dc);
          } else {
            d_stay += da + dc + dp;
            d_moves = fmaf(turn.x, da + dc + dp, d_moves); d_turns = fmaf(turn.y, db + dq, d_turns);
            d_jumps = fmaf(turn.z, fmaf(writes, dp, da + dc), d_jumps); d_jump_turns = fmaf(turn.w, fmaf(writes, dq, db), d_jump_turns);
          }
          if (!is_first) {
            __stcg(xs + k, make_float4(fmaf(f.a, x.x, f.b * y.x), fmaf(f.a, x.y, f.b * y.y), fmaf(f.a, x.z, f.b * y.z), fmaf(f.a, x.w, f.b * y.w)));
            __stcg(ys + k, make_float4(fmaf(f.c, y.x, -f.b * x.x), fmaf(f.c, y.y, -f.b * x.y), fmaf(f.c, y.z, -f.b * x.z), fmaf(f.c, y.w, -f.b * x.w)));
          }
        }
#pragma unroll
        for (int d = 0; d < 4; d++) d_u[d] = sum_of_warp(d_u[d]);
        __syncwarp();
        if (p.lane == 0) *(float4*)(d_written + ex * 8 + 4 * half) = make_float4(d_u[0], d_u[1], d_u[2], d_u[3]);
        if (half == 1) {
          if (p.lane == 0 && t > 1) prefetch(kept + ((example + ex) * T + t - 1) * 2 * places, 32 * places);  // for the next step
          const float stay = sum_of_warp(d_stay), moves = sum_of_warp(d_moves), turned = sum_of_warp(d_turns);
          const float jumps = sum_of_warp(d_jumps), jumped = sum_of_warp(d_jump_turns);
          const Actions d{stay, moves + turned, moves - turned, jumps + jumped, jumps - jumped};
          const float all = m.stay * d.stay + m.left * d.left + m.right * d.right + m.jump_left * d.jump_left + m.jump_right * d.jump_right;
          if (p.lane == 0) {
            float* to = d_logits + ex * 8;
            to[0] = m.stay * (d.stay - all); to[1] = m.left * (d.left - all); to[2] = m.right * (d.right - all);
            to[3] = m.jump_left * (d.jump_left - all); to[4] = m.jump_right * (d.jump_right - all);
          }
        }
      }
      __syncthreads();
      keep(acc);
      product_fence();
      recurrent(acc, W, base + LOW, p.group, states, 0);
      product_commit();
      // Meanwhile: back through the layers that gave the values.
      uint32_t positive = 0;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int unit = 16 * p.group + (p.lane >> 2) + 8 * (i >> 1), ex = 8 * p.warp + 2 * p.pair + (i & 1);
        const uint32_t at = ((uint32_t)ex * T + t + 1) * 64 + unit;
        if (ex < p.rows) positive |= (__bfloat162float(first[at]) > 0.f ? 1u : 0u) << i | (__bfloat162float(second[at]) > 0.f ? 16u : 0u) << i;
      }
      {
        float d[4] = {0.f, 0.f, 0.f, 0.f};
        narrow_layer(p, d, inner[512 + p.group * 32 + p.lane], low_inner[512 + p.group * 32 + p.lane], d_written, p.warp);
#pragma unroll
        for (int i = 0; i < 4; i++) d[i] = positive >> (4 + i) & 1 ? d[i] : 0.f;
        store_side(p, scratch + SIDE, d);
      }
      if (p.tid < 2 * p.rows) {
        const float* d = (p.tid & 1 ? d_logits : d_written) + (p.tid >> 1) * 8;
        *(uint4*)(d_taps + ((uint32_t)(p.tid >> 1) * T + t + 1) * 16 + 8 * (p.tid & 1)) =
            make_uint4(pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]), pack(d[6], d[7]));
      }
      __syncthreads();
      {
        float d[4] = {0.f, 0.f, 0.f, 0.f};
        layer<4>(p, d, inner + p.group * 128, low_inner + p.group * 128, shared(scratch + SIDE), SIDE_PART);
#pragma unroll
        for (int i = 0; i < 4; i++) d[i] = positive >> i & 1 ? d[i] : 0.f;
        store_side(p, scratch, d);
      }
      if (p.tid < 256) write_side(p, scratch + SIDE, d_second, T, t + 1);
      __syncthreads();
      if (p.tid < 256) write_side(p, scratch, d_first, T, t + 1);
      product_wait();
      keep(acc);
      const int of_warp = p.tid >> 5;
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const uint4 *w = high + FIRST + of_warp * 128 + 2 * c * 32 + p.lane, *wl = low + FIRST + of_warp * 128 + 2 * c * 32 + p.lane;
        const uint4 w0 = w[0], w1 = w[32], l0 = wl[0], l1 = wl[32];
#pragma unroll
        for (int j = 0; j < 4; j++) {
          float(&d)[4] = *(float(*)[4]) & acc[4 * j];
          uint32_t v[4], l[4];
          const uint32_t at = shared(scratch) + piece(8 * j + (p.lane & 7), 4 * c + (p.lane >> 3), ROWS);
          load_matrices(v, at); load_matrices(l, at + SIDE_PART);
          small_product(d, w0, v[0], v[1]); small_product(d, w0, l[0], l[1]); small_product(d, l0, v[0], v[1]);
          small_product(d, w1, v[2], v[3]); small_product(d, w1, l[2], l[3]); small_product(d, l1, v[2], v[3]);
        }
      }
      const uint4 w = high[ACTION + of_warp * 32 + p.lane], wl = low[ACTION + of_warp * 32 + p.lane];
#pragma unroll
      for (int j = 0; j < 4; j++) narrow_layer(p, *(float(*)[4]) & acc[4 * j], w, wl, d_logits, j);
    }
    if (classes) {
      const uint4 w = high[READOUT + (p.tid >> 5) * 32 + p.lane], wl = low[READOUT + (p.tid >> 5) * 32 + p.lane];
#pragma unroll
      for (int j = 0; j < 4; j++) narrow_layer(p, *(float(*)[4]) & acc[4 * j], w, wl, d_classes(n), j);
    } else {
#pragma unroll
      for (int i = 0; i < 8; i++) {
        const int row = 8 * (i >> 1) + (i & 1), x = 4 * (i >> 1) + (i & 1);
        if (row + 2 * p.pair >= p.rows) continue;
        const float* d = d_outputs + ((uint32_t)row * T + t) * H;
        acc[x] += d[0]; acc[x + 2] += d[8];
      }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int row = 8 * (i >> 1) + (i & 1), x = 4 * (i >> 1) + (i & 1);
      const bool there = row + 2 * p.pair < p.rows;
      const uint32_t word = there ? masks[((uint32_t)(row + 2 * p.pair) * T + t) * (H / 16) + p.group * 4 + p.warp] : 0;
      acc[x] = word >> bit & 1 ? acc[x] : 0.f;
      acc[x + 2] = word >> (bit + 8) & 1 ? acc[x + 2] : 0.f;
    }
    if (p.tid < 256) d_classes(n + 1)[p.tid] = d_class;
    char* tile = smem + ((n + 1) & 1) * TILE;
    __syncthreads();  // all have read the inner gradients, which lie where the states go
    store_states(p, tile, acc);
    async_fence();
    __syncthreads();
    write_notes(p, tile, d_drive, T, t, 1.f);
  }
}
#endif
