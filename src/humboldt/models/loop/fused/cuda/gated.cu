// LSTM or GRU over all time steps: one cluster of H / 64 blocks per (member, 128 examples). A block has 64 units: its slice of
// the recurrent weights (64 units x 4 gates) stays in shared memory. It has two warpgroups of 64 examples each, which never wait
// for each other. Hidden states, and partial sums of their gradients, go through distributed shared memory; barriers tell when
// they are there.
//
// The gates of a GRU are reset, keep, the hidden state's part of the new state, and the input's part of it, whose recurrent
// weights are zero. Its memory is the hidden state.
//
// Factors are float16, sums and the memory float32. Gradients are multiplied by a power of two per member, `scale`, and
// saturate where they grow more than 2 ** 19 times.
//
// The 64 columns of a gate are permuted so that a thread has twice eight neighbouring units of two examples, which are pieces
// `pair` and 4 + pair of its rows; then four threads write neighbouring pieces: see `column`.
//
// A linear readout can be part of both kernels (`sizes.classes`): then logits take the place of outputs, and the gradients of
// logits that of the gradients of outputs.
//
// Macros: HIDDEN (64, 128, 256), COLUMNS (16, 32: width of the one-hot symbols), BACKWARD (instead of forward), GRU (instead of
// an LSTM).
#include <cuda_fp16.h>
#include <instructions.cuh>
#include <products.cuh>
#include "layout.cuh"

typedef __half num;
constexpr int H = HIDDEN, BLOCKS = H / 64, PEERS = BLOCKS - 1, ROWS = 64, KEPT = 5;

__device__ __forceinline__ uint32_t pack(float a, float b) { __half2 v = __floats2half2_rn(a, b); return *(uint32_t*)&v; }
#ifdef GRU  // the hidden state's part of the new state has no bound
#define pack_kept pack_saturated
#else
#define pack_kept pack
#endif
__device__ __forceinline__ float2 unpack(uint32_t v) { return __half22float2(*(__half2*)&v); }
__device__ __forceinline__ float sigmoid_(float x) { return fmaf(fast_tanh(0.5f * x), 0.5f, 0.5f); }

// One unit of one example: `advance` returns the new hidden state from the sums of the gates, and notes what `gradients` needs.
// The latter gives the gradients of the sums; `d_memory` becomes that of the memory before.
#ifdef GRU
constexpr int PRODUCTS = 3;  // gates with recurrent weights, the first ones
__device__ __forceinline__ float advance(const float (&sums)[4], float& memory, float (&kept)[KEPT]) {
  const float r = sigmoid_(sums[0]), z = sigmoid_(sums[1]), heard = sums[2], n = fast_tanh(fmaf(r, heard, sums[3])), old = memory;
  memory = fmaf(z, old - n, n);
  kept[0] = r; kept[1] = z; kept[2] = heard; kept[3] = n; kept[4] = old;
  return memory;
}
__device__ __forceinline__ void gradients(const float (&kept)[KEPT], float d_hidden, float& d_memory, float (&out)[4]) {
  const float r = kept[0], z = kept[1], heard = kept[2], n = kept[3], old = kept[4], d = d_hidden + d_memory;
  const float d_new = d * (1.f - z) * (1.f - n * n);
  out[0] = d_new * heard * r * (1.f - r); out[1] = d * (old - n) * z * (1.f - z);
  out[2] = d_new * r; out[3] = d_new;
  d_memory = d * z;
}
#else
constexpr int PRODUCTS = 4;
__device__ __forceinline__ float advance(const float (&sums)[4], float& memory, float (&kept)[KEPT]) {
  const float i = sigmoid_(sums[0]), g = fast_tanh(sums[1]), f = sigmoid_(sums[2]), o = sigmoid_(sums[3]), old = memory;
  memory = fmaf(f, old, i * g);
  kept[0] = i; kept[1] = g; kept[2] = f; kept[3] = o; kept[4] = old;
  return o * fast_tanh(memory);
}
__device__ __forceinline__ void gradients(const float (&kept)[KEPT], float d_hidden, float& d_memory, float (&out)[4]) {
  const float i = kept[0], g = kept[1], f = kept[2], o = kept[3], old = kept[4];
  const float s = fast_tanh(fmaf(f, old, i * g));
  const float d = fmaf(d_hidden * o, 1.f - s * s, d_memory);
  out[0] = d * g * i * (1.f - i); out[1] = d * i * (1.f - g * g);
  out[2] = d * old * f * (1.f - f); out[3] = d_hidden * s * o * (1.f - o);
  d_memory = d * f;
}
#endif

struct Place {
  int tid, group, lane, pair, member, row;  // `row`: of the warpgroup's 64 examples; also row + 8
  int first, rows;                          // the warpgroup's first example of the member, and how many it has
  uint32_t rank;
  size_t example;                           // `first`, among those of all members
  __device__ __forceinline__ Place(const Sizes& sizes) {
    tid = threadIdx.x & 127; group = threadIdx.x >> 7; lane = tid & 31; pair = lane & 3;
    row = (tid >> 5) * 16 + (lane >> 2);
    rank = BLOCKS > 1 ? cluster_rank() : 0;
    const int cluster = blockIdx.x / BLOCKS, clusters = (sizes.batch + 2 * ROWS - 1) / (2 * ROWS);  // per member
    member = cluster / clusters;
    first = (cluster % clusters) * 2 * ROWS + group * ROWS;
    rows = min(ROWS, max(0, sizes.batch - first));
    example = (size_t)member * sizes.batch + first;
  }
};

// The column of a product, 8 j + 2 pair + e, that belongs to unit `u` of the 64 of a gate: of thread `pair` of four.
__device__ __forceinline__ constexpr int column(int u) { return (u >> 5) * 32 + (u >> 1 & 3) * 8 + (u >> 3 & 3) * 2 + (u & 1); }

// Recurrent weights [m][hidden unit][PRODUCTS][H] of hidden unit `s` to units 16 a to 16 a + 15 of this block, two in a word.
struct Sixteen {
  uint32_t two[8];
  __device__ __forceinline__ Sixteen(const float* weights, const Place& p, int s, int gate, int a) {
    const float4* from = (const float4*)(weights + (((size_t)p.member * H + s) * PRODUCTS + gate) * H + p.rank * 64 + a * 16);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float4 x = gate < PRODUCTS ? from[k] : make_float4(0.f, 0.f, 0.f, 0.f);
      two[2 * k] = pack(x.x, x.y); two[2 * k + 1] = pack(x.z, x.w);
    }
  }
};

// Brings all of them on their way to the L2 cache, so that the loop that loads them need not wait for each.
__device__ __forceinline__ void prefetch_weights(const float* weights, const Place& p) {
  const float* from = weights + (size_t)p.member * H * PRODUCTS * H + p.rank * 64;
#pragma unroll 1
  for (int i = threadIdx.x; i < H * PRODUCTS * 2; i += 256) prefetch(from + (i >> 1) * H + (i & 1) * 32);
}

#ifndef BACKWARD
constexpr int STATES = BLOCKS * 32768;                      // of each warpgroup: 64 x H
constexpr int HOT = STATES + 2 * BLOCKS * 8192;             // one-hot symbols of each warpgroup, two buffers
constexpr int HOT_SIZE = ROWS * COLUMNS * 2, STRIDE = COLUMNS * 16;  // STRIDE: bytes of 8 rows
constexpr int TABLE = HOT + 4 * HOT_SIZE;
constexpr int BARRIERS = TABLE + 256 * COLUMNS * 2;
constexpr int ROW = H + COLUMNS;  // of `inputs`

// symbols [m or 1][B][T]; weights [m][hidden unit][PRODUCTS][H]; table [m][rank][gate column][COLUMNS]: high and
// low parts of up to COLUMNS / 2 symbols, or up to COLUMNS symbols in one part
// readout [m][rank][8 classes][4][lane]: fragments of its weights, high and low parts
// outputs [m][B][T][H] or, with a readout, each block's part of the logits [m][rank][B][T][even number of classes]
// inputs [m][B][T][ROW]: the hidden state before each step, with the one-hot symbol (once for each part of the table) behind it:
// one product of them and the gradients of gates is the gradient of the weights and of the table
// last [m][B][H]: the hidden state after all steps
// kept [m][T][rank][5][2][B][4][8]: gates and memory, by halves of a thread's 16 units. Only the kernels read it, so it lies as
// they go through it: all examples of a step side by side.
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(256, 1)
gated_forward(const Sizes* __restrict__ sizes_at, const int* __restrict__ symbols, const float* __restrict__ weights,
              const uint4* __restrict__ table, const uint4* __restrict__ readout, float* __restrict__ outputs,
              num* __restrict__ inputs, num* __restrict__ last, uint4* __restrict__ kept) {
  SHARED_MEMORY(smem);
  const Sizes sizes = *sizes_at;
  const Place p(sizes);
  const int T = sizes.steps;
  const bool keeps = sizes.keeps;
  const int classes = sizes.classes, width = (classes + 1) & ~1;
  char* states = smem + STATES + p.group * BLOCKS * 8192;
  char* hot = smem + HOT + p.group * 2 * HOT_SIZE;
  char* own = states + p.rank * 8192;  // the panel of this block's units
  // One barrier for each of the others' panels, and one that tells that the others have read this block's.
  const uint32_t full = shared(smem + BARRIERS) + p.group * 32, empty = full + 24;
  prefetch_weights(weights, p);
#pragma unroll 1
  for (int i = threadIdx.x; i < 16 * H; i += 256) {  // neighbouring threads have neighbouring hidden units
    const int s = i % H, gate = i / H >> 2, a = i / H & 3;
    const Sixteen w(weights, p, s, gate, a);
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        *(uint16_t*)(smem + piece(gate * 64 + column(16 * a + 2 * j + e), s >> 3, 256) + (s & 7) * 2) = (uint16_t)(w.two[j] >> 16 * e);
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < 256 * COLUMNS / 8; i += 256) {
    const int n = i / (COLUMNS / 8), c = i % (COLUMNS / 8);
    *(uint4*)(smem + TABLE + (n >> 3) * STRIDE + c * 128 + (n & 7) * 16) = table[(size_t)(p.member * BLOCKS + p.rank) * (256 * COLUMNS / 8) + i];
  }
#pragma unroll 1
  for (int i = p.tid; i < BLOCKS * 512; i += 128) *(uint4*)(states + i * 16) = make_uint4(0, 0, 0, 0);
  const int* symbol_at = symbols + (size_t)p.member * sizes.symbol_stride + (p.example - (size_t)p.member * sizes.batch + p.tid) * T;
  const bool has_symbol = p.tid < p.rows;
  auto symbol = [&](int t) { return has_symbol && t < T ? min(max(symbol_at[t], 0), sizes.symbols - 1) : 0; };
  const int low = sizes.symbols <= COLUMNS / 2 ? COLUMNS / 2 : 0;  // from the column of a high part to that of the low part
  auto one_hot = [&](int t, int s) {  // threads 0..63 of a warpgroup, one row each
    char* line = hot + (t & 1) * HOT_SIZE + (p.tid >> 3) * STRIDE + (p.tid & 7) * 16;
#pragma unroll
    for (int c = 0; c < COLUMNS / 8; c++) *(uint4*)(line + c * 128) = make_uint4(0, 0, 0, 0);
    const int l = s + low;
    *(num*)(line + (s >> 3) * 128 + (s & 7) * 2) = num(1.f);
    *(num*)(line + (l >> 3) * 128 + (l & 7) * 2) = num(1.f);
  };
  if (p.tid < ROWS) one_hot(0, symbol(0));
  if (p.tid == 0) {
#pragma unroll
    for (int k = 0; k < PEERS; k++) barrier_init(full + 8 * k, 1);
    if (PEERS > 0) barrier_init(empty, PEERS);
  }
  outputs += classes ? (((size_t)p.member * BLOCKS + p.rank) * sizes.batch + p.first) * T * width : p.example * T * H + p.rank * 64;
  readout += (p.member * BLOCKS + p.rank) * ((classes + 7) / 8) * 128 + p.lane;
  inputs += p.example * T * ROW;
  auto write_states = [&](num* to, int row) {  // rows of `row` numbers
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int n = (p.tid >> 3) + k * 16, c = p.tid & 7;
      if (n < p.rows) *(uint4*)(to + (uint32_t)n * row + p.rank * 64 + 8 * c) = *(const uint4*)(own + piece(n, c, ROWS));
    }
  };
  async_fence();
  __syncthreads();
  cluster_sync();
  const uint32_t weights_at = shared(smem), states_at = shared(states), hot_at = shared(hot), table_at = shared(smem + TABLE), own_at = shared(own);
  uint32_t peer_full[PEERS + 1], peer_empty[PEERS + 1], peer_panel[PEERS + 1];
#pragma unroll
  for (int k = 0; k < PEERS; k++) {
    const uint32_t r = (p.rank + 1 + k) % BLOCKS;  // to which this block is number PEERS - 1 - k of the others
    peer_full[k] = at_rank(full + 8 * (PEERS - 1 - k), r); peer_empty[k] = at_rank(empty, r); peer_panel[k] = at_rank(own_at, r);
  }
  const uint32_t keep_piece = sizes.batch * 4;               // to the next half of a thread's units
  const size_t keep_step = BLOCKS * KEPT * 2 * keep_piece;  // to the next step
  uint4* keep_at = kept + (size_t)p.member * T * keep_step + p.rank * (KEPT * 2) * keep_piece + (p.first + p.row) * 4 + p.pair;
  const bool keeps0 = keeps && p.row < p.rows, keeps1 = keeps && p.row + 8 < p.rows;
  float acc[32 * PRODUCTS], memory[32];
  float alone[32];  // sums of a GRU's gate without recurrent weights
#pragma unroll
  for (int i = 0; i < 32; i++) memory[i] = 0.f;
  for (int t = 0; t < T; t++) {
    const int next = symbol(t + 1);
    keep(acc);
    if (PRODUCTS < 4) keep(alone);
    product_fence();
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; k++) {
      const uint64_t symbols = plain(hot_at + (t & 1) * HOT_SIZE + k * 256, 128, STRIDE);
      product(acc, symbols, plain(table_at + k * 256, 128, STRIDE), k > 0);
      if (PRODUCTS < 4) product(alone, symbols, plain(table_at + PRODUCTS * 8 * STRIDE + k * 256, 128, STRIDE), k > 0);
    }
#pragma unroll
    for (int s = 0; s < BLOCKS; s++) {  // the own panel first, the others as they come
      const uint32_t from = (p.rank + s) % BLOCKS;
      if (s > 0 && t > 0) barrier_wait(full + 8 * (s - 1), (t - 1) & 1);
      product_fence();
#pragma unroll
      for (int k = 0; k < 4; k++)
        product(acc, swizzled(states_at + from * 8192 + k * 32), swizzled(weights_at + from * 32768 + k * 32), 1);
    }
    product_commit();
    if (keeps) {
      write_states(inputs + (uint32_t)t * ROW, T * ROW);
#pragma unroll
      for (int k = 0; k < (ROWS * COLUMNS / 8 / BLOCKS + 127) / 128; k++) {  // each block the symbols of a part of the examples
        const int i = (p.tid + k * 128) * BLOCKS + p.rank, n = i / (COLUMNS / 8), c = i % (COLUMNS / 8);
        if (n < p.rows)
          *(uint4*)(inputs + ((uint32_t)n * T + t) * ROW + H + 8 * c) =
              *(const uint4*)(hot + (t & 1) * HOT_SIZE + (n >> 3) * STRIDE + c * 128 + (n & 7) * 16);
      }
    }
    product_wait();
    keep(acc);
    if (PRODUCTS < 4) keep(alone);
    group_sync(p.group);  // all warps have read the hidden states
    if (p.tid == 0) {
#pragma unroll
      for (int k = 0; k < PEERS; k++) barrier_arrive_remote(peer_empty[k]);
    }
    uint32_t h[16], K[KEPT][16];
#pragma unroll
    for (int r = 0; r < 2; r++) {  // rows `row` and `row + 8`
#pragma unroll
      for (int j = 0; j < 8; j++) {
        float v[2][KEPT], hidden[2];
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const int x = j * 4 + r * 2 + e, y = r * 16 + j * 2 + e;
          hidden[e] = advance({acc[x], acc[32 + x], acc[64 + x], PRODUCTS < 4 ? alone[x] : acc[32 * (PRODUCTS - 1) + x]}, memory[y], v[e]);
        }
#pragma unroll
        for (int k = 0; k < KEPT; k++) K[k][r * 8 + j] = pack_kept(v[0][k], v[1][k]);
        h[r * 8 + j] = pack(hidden[0], hidden[1]);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
      if (r ? keeps1 : keeps0) {
        uint4* to = keep_at + t * keep_step + r * 32;
#pragma unroll
        for (int k = 0; k < KEPT; k++)
#pragma unroll
          for (int half = 0; half < 2; half++) {
            const uint32_t* x = &K[k][r * 8 + half * 4];
            to[(k * 2 + half) * keep_piece] = make_uint4(x[0], x[1], x[2], x[3]);
          }
      }
    if (PEERS > 0) barrier_wait(empty, t & 1);  // the others have read theirs, and so have got what was sent before
#pragma unroll
    for (int r = 0; r < 2; r++) {
      char* line = own + (p.row + 8 * r) * 128;
      *(uint4*)(line + ((p.pair ^ (p.row & 7)) << 4)) = make_uint4(h[r * 8], h[r * 8 + 1], h[r * 8 + 2], h[r * 8 + 3]);
      *(uint4*)(line + (((4 + p.pair) ^ (p.row & 7)) << 4)) = make_uint4(h[r * 8 + 4], h[r * 8 + 5], h[r * 8 + 6], h[r * 8 + 7]);
    }
    if (p.tid < ROWS) one_hot(t + 1, next);
    async_fence();
    group_sync(p.group);
    if (p.tid == 0 && t + 1 < T) {
#pragma unroll
      for (int k = 0; k < PEERS; k++) barrier_expect(full + 8 * k, 8192);
#pragma unroll
      for (int k = 0; k < PEERS; k++) send(peer_panel[k], own_at, 8192, peer_full[k]);
    }
    if (!classes) {
#pragma unroll 2
      for (int k = 0; k < 8; k++) {
        const int n = (p.tid >> 4) + k * 8, c = p.tid & 15;
        const uint2 two = *(const uint2*)(own + piece(n, c >> 1, ROWS) + (c & 1) * 8);
        const float2 x = unpack(two.x), y = unpack(two.y);
        // A plain assignment the compiler would turn into four stores.
        if (n < p.rows) __stcg((float4*)(outputs + ((uint32_t)n * T + t) * H + 4 * c), make_float4(x.x, x.y, y.x, y.y));
      }
    }
#pragma unroll 1
    for (int first = 0; first < classes; first += 8) {  // a thread's new states are the first factor as they are
      float sums[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const uint4 states = make_uint4(h[2 * k], h[2 * k + 8], h[2 * k + 1], h[2 * k + 9]), w = readout[first * 16 + k * 32];
        small_product(sums, states, w.x, w.y); small_product(sums, states, w.z, w.w);
      }
      const int c = first + 2 * p.pair;
      float* to = outputs + ((uint32_t)p.row * T + t) * width + c;
      if (c < classes && p.row < p.rows) *(float2*)to = make_float2(sums[0], sums[1]);
      if (c < classes && p.row + 8 < p.rows) *(float2*)(to + 8 * T * width) = make_float2(sums[2], sums[3]);
    }
  }
  if (keeps) write_states(last + p.example * H, H);
  cluster_sync();
}

#else  // BACKWARD
constexpr int WEIGHTS = 256 * H * 2, PARTS = 4, RECEIVED = WEIGHTS;  // PARTS: pieces of 16 bytes that a thread gets from each of the others
constexpr int BARRIERS = RECEIVED + 2 * PEERS * PARTS * 2048, READOUT = BARRIERS + 64;  // READOUT: [class][64 units]

// weights [m][hidden unit][PRODUCTS][H]; scale [m]; readout [m][hidden unit][class]
// d_outputs [m][B][T][H] or, with a readout, gradients of the logits [m][B][T][class]
// d_drive [m][B][T][4 H], times scale
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(256, 1)
gated_backward(const Sizes* __restrict__ sizes_at, const float* __restrict__ weights, const float* __restrict__ scales,
               const uint4* __restrict__ kept, const float* __restrict__ readout, const float* __restrict__ d_outputs,
               num* __restrict__ d_drive) {
  SHARED_MEMORY(smem);
  const Sizes sizes = *sizes_at;
  const Place p(sizes);
  const int T = sizes.steps;
  const int classes = sizes.classes;
  const float scale = scales[p.member];
  char* received = smem + RECEIVED + p.group * PEERS * PARTS * 2048;  // [sender][piece][thread]
  const uint32_t full = shared(smem + BARRIERS) + p.group * 16, empty = full + 8;
  // Block s of the product's columns is for rank + s: its own is always the first.
  prefetch_weights(weights, p);
#pragma unroll 1
  for (int i = threadIdx.x; i < 16 * H; i += 256) {  // neighbouring threads have neighbouring columns
    const int s = i >> 4, gate = i >> 2 & 3, a = i & 3;
    const Sixteen w(weights, p, s, gate, a);
    const int row = ((s & ~63) - 64 * (int)p.rank + column(s & 63)) & (H - 1);
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const int c = column(16 * a + 2 * j);
      *(uint32_t*)(smem + piece(row, gate * 8 + (c >> 3), H) + (c & 7) * 2) = w.two[j];
    }
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < 64 * classes; i += 256)
    *(float*)(smem + READOUT + i * 4) = readout[((size_t)p.member * H + p.rank * 64 + (i & 63)) * classes + (i >> 6)];
  if (PEERS > 0 && p.tid == 0) { barrier_init(full, 1); barrier_init(empty, PEERS); }
  async_fence();
  __syncthreads();
  cluster_sync();
  const uint32_t weights_at = shared(smem);
  uint32_t peer_full[PEERS + 1], peer_empty[PEERS + 1], peer_received[PEERS + 1];
#pragma unroll
  for (int k = 0; k < PEERS; k++) {
    const uint32_t r = (p.rank + 1 + k) % BLOCKS;
    peer_full[k] = at_rank(full, r); peer_empty[k] = at_rank(empty, r);
    peer_received[k] = at_rank(shared(received) + k * PARTS * 2048 + p.tid * 16, r);
  }
  const bool there0 = p.row < p.rows, there1 = p.row + 8 < p.rows;
  const uint32_t keep_piece = sizes.batch * 4;
  const size_t keep_step = BLOCKS * KEPT * 2 * keep_piece;
  const uint4* group_kept = kept + (size_t)p.member * T * keep_step + p.rank * (KEPT * 2) * keep_piece + p.first * 4;
  const uint4* keep_at = group_kept + p.row * 4 + p.pair;
  d_outputs += classes ? p.example * T * classes : p.example * T * H + p.rank * 64;
  num* d_drive_at = d_drive + (p.example + p.row) * T * (4 * H) + p.rank * 64 + p.pair * 8;
  const uint4* next_kept = group_kept + p.tid * keep_piece;  // of the first ten threads, a piece each
  const float* readout_at = (const float*)(smem + READOUT) + p.pair * 8;
  float acc[H / 2], d_memory[32];
  uint32_t A[64];
#pragma unroll
  for (int i = 0; i < 32; i++) { d_memory[i] = 0.f; acc[i] = 0.f; }
  for (int n = 0; n < T; n++) {
    const int t = T - 1 - n;
    if (t > 0) {  // what the next step needs, on its way to the L2 cache
      if (p.tid < KEPT * 2 && p.rows > 0) prefetch(next_kept + (t - 1) * keep_step, p.rows * 64);
      if (!classes && p.tid < p.rows) prefetch(d_outputs + ((uint32_t)p.tid * T + t - 1) * H, 256);
    }
    uint4 k_[KEPT * 4];
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const uint4* from = keep_at + t * keep_step + r * 32;
      const bool there = r ? there1 : there0;
#pragma unroll
      for (int k = 0; k < KEPT; k++)
#pragma unroll
        for (int half = 0; half < 2; half++) k_[k * 4 + r * 2 + half] = there ? __ldcs(from + (k * 2 + half) * keep_piece) : make_uint4(0, 0, 0, 0);
    }
    if (classes) {
#pragma unroll 1
      for (int c = 0; c < classes; c++) {
        float d[2], w[16];
#pragma unroll
        for (int r = 0; r < 2; r++) d[r] = (r ? there1 : there0) ? d_outputs[((uint32_t)(p.row + 8 * r) * T + t) * classes + c] * scale : 0.f;
#pragma unroll
        for (int k = 0; k < 4; k++) {
          const float4 four = *(const float4*)(readout_at + c * 64 + (k >> 1) * 32 + (k & 1) * 4);
          w[k * 4] = four.x; w[k * 4 + 1] = four.y; w[k * 4 + 2] = four.z; w[k * 4 + 3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < 32; i++) acc[i] = fmaf(d[i >> 1 & 1], w[(i >> 2) * 2 + (i & 1)], acc[i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 8; i++) {  // rows `row` and `row + 8`, four units each
        const int r = i >> 2, j = i & 3;
        const float4* d = (const float4*)(d_outputs + ((uint32_t)(p.row + 8 * r) * T + t) * H + p.pair * 8 + (j >> 1) * 32 + (j & 1) * 4);
        const float4 four = (r ? there1 : there0) ? __ldcs(d) : make_float4(0.f, 0.f, 0.f, 0.f);
        float* x = acc + j * 8 + r * 2;
        x[0] = fmaf(four.x, scale, x[0]); x[1] = fmaf(four.y, scale, x[1]); x[4] = fmaf(four.z, scale, x[4]); x[5] = fmaf(four.w, scale, x[5]);
      }
    }
    if (PEERS > 0 && n > 0) {
      barrier_wait(full, (n - 1) & 1);
#pragma unroll
      for (int s = 0; s < PEERS; s++)
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
          const uint4 v = *(const uint4*)(received + (s * PARTS + k) * 2048 + p.tid * 16);
          const float2 x0 = unpack(v.x), x1 = unpack(v.y), x2 = unpack(v.z), x3 = unpack(v.w);
          acc[k * 8] += x0.x; acc[k * 8 + 1] += x0.y; acc[k * 8 + 2] += x1.x; acc[k * 8 + 3] += x1.y;
          acc[k * 8 + 4] += x2.x; acc[k * 8 + 5] += x2.y; acc[k * 8 + 6] += x3.x; acc[k * 8 + 7] += x3.y;
        }
      group_sync(p.group);
      if (n + 1 < T && p.tid == 0) {
#pragma unroll
        for (int k = 0; k < PEERS; k++) barrier_arrive_remote(peer_empty[k]);
      }
    }
#define WORD(v, j) ((j) == 0 ? (v).x : (j) == 1 ? (v).y : (j) == 2 ? (v).z : (v).w)
#define KEPT_PAIR(k) unpack(WORD(k_[(k) * 4 + r * 2 + (j >> 2)], j & 3))
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const float2 pairs[KEPT] = {KEPT_PAIR(0), KEPT_PAIR(1), KEPT_PAIR(2), KEPT_PAIR(3), KEPT_PAIR(4)};
        float out[2][4];
#pragma unroll
        for (int e = 0; e < 2; e++) {
          float v[KEPT];
#pragma unroll
          for (int k = 0; k < KEPT; k++) v[k] = e ? pairs[k].y : pairs[k].x;
          gradients(v, acc[j * 4 + r * 2 + e], d_memory[r * 16 + j * 2 + e], out[e]);
        }
        // The fragment of k-step (gate, j / 2): registers [row][half].
#pragma unroll
        for (int g = 0; g < 4; g++) A[(g * 4 + (j >> 1)) * 4 + (j & 1) * 2 + r] = pack_saturated(out[0][g], out[1][g]);
      }
    }
    keep(A); keep(acc);
    product_fence();
#pragma unroll
    for (int k = 0; k < 4 * PRODUCTS; k++)
      product(acc, A[k * 4], A[k * 4 + 1], A[k * 4 + 2], A[k * 4 + 3], swizzled(weights_at + (k >> 2) * H * 128 + (k & 3) * 32), k > 0);
    product_commit();
#pragma unroll
    for (int r = 0; r < 2; r++)
      if (r ? there1 : there0) {
        num* row = d_drive_at + ((uint32_t)(8 * r) * T + t) * (4 * H);
#define FRAGMENT(j) A[(g * 4 + ((j) >> 1)) * 4 + ((j) & 1) * 2 + r]
#pragma unroll
        for (int g = 0; g < 4; g++) {
          *(uint4*)(row + g * H) = make_uint4(FRAGMENT(0), FRAGMENT(1), FRAGMENT(2), FRAGMENT(3));
          *(uint4*)(row + g * H + 32) = make_uint4(FRAGMENT(4), FRAGMENT(5), FRAGMENT(6), FRAGMENT(7));
        }
      }
    const bool sends = n + 1 < T;
    if (PEERS > 0 && sends) {
      if (p.tid == 0) barrier_expect(full, PEERS * PARTS * 2048);
      if (n > 0) barrier_wait(empty, (n - 1) & 1);
    }
    product_wait();
    keep(acc); keep(A);
    if (!sends) break;
#pragma unroll
    for (int s = 0; s < PEERS; s++)
#pragma unroll
      for (int k = 0; k < PARTS; k++) {
        const float* x = acc + 32 + s * 32 + k * 8;
        send(peer_received[s] + k * 2048, pack_saturated(x[0], x[1]), pack_saturated(x[2], x[3]), pack_saturated(x[4], x[5]),
             pack_saturated(x[6], x[7]), peer_full[s]);
      }
  }
  cluster_sync();
}
#endif
