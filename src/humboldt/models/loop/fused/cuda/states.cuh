// What RNNs with and without a memory have in common: states and recurrent weights of a block of 32 examples.
//
// Every factor of a product is the sum of two bfloat16, a high and a low part, and a product is three: high x high, high x low
// and low x high. So numbers have 16 bits in the range of float32, which hidden states after a ReLU need.
//
// There is a warpgroup (128 threads) for every 64 units. Their rows of the recurrent weights stay in registers (high) and in
// shared memory (low), as the first factor (units x hidden units); the hidden states, a tile of 32 rows for each part, are the
// second. So a thread has two units of eight examples. Two pairs of tiles take turns: one is read while the other is written.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <instructions.cuh>
#include <products.cuh>
#include "layout.cuh"

typedef __nv_bfloat16 num;
constexpr int H = HIDDEN, GROUPS = H / 64, THREADS = 2 * H, ROWS = 32, STEPS = H / 16;
constexpr int PANEL = ROWS * 128, TILE = GROUPS * PANEL;
constexpr int PART = 2 * TILE;  // from the high to the low part of a state
constexpr int LOW = 4 * TILE;  // where the low part of the weights is; FREE: what comes after it

__device__ __forceinline__ uint32_t pack(float a, float b) { __nv_bfloat162 v = __floats2bfloat162_rn(a, b); return *(uint32_t*)&v; }
__device__ __forceinline__ float2 unpack(uint32_t v) { return __bfloat1622float2(*(__nv_bfloat162*)&v); }
__device__ __forceinline__ uint32_t rest(float a, float b, uint32_t high) { float2 h = unpack(high); return pack(a - h.x, b - h.y); }
__device__ __forceinline__ float activation(float x) {
#ifdef TANH
  return 1.f - __fdividef(2.f, 1.f + __expf(2.f * x));  // absolute error some 1e-7
#else
  return relu(x);
#endif
}

struct Place {
  int tid, group, warp, lane, pair, member, first, rows;  // `first`: the first example of the block, `rows`: how many it has
  int unit;            // of this thread's part of a product; also unit + 8. Its examples are 8 j + 2 pair + e.
  uint32_t corner[2];  // where this thread's row of transposed fragments is in a tile
  __device__ __forceinline__ Place(const Sizes& sizes) {
    tid = threadIdx.x; group = tid >> 7; warp = (tid >> 5) & 3; lane = tid & 31; pair = lane & 3;
    const int blocks = (sizes.batch + ROWS - 1) / ROWS;
    member = blockIdx.x / blocks; first = (blockIdx.x % blocks) * ROWS; rows = min(ROWS, sizes.batch - first);
    unit = 64 * group + 16 * warp + (lane >> 2);
    for (int c = 0; c < 2; c++) {
      int n = 8 * (2 * c + (lane >> 4)) + (lane & 7), chunk = warp * 2 + ((lane >> 3) & 1);
      corner[c] = group * PANEL + n * 128 + ((chunk ^ (n & 7)) << 4);
    }
  }
};
// This thread's registers of a row-major matrix (units x columns) as first factor.
template <int N> __device__ __forceinline__ void fragments(const Place& p, const num* from, int columns, uint32_t (&to)[N]) {
  const num* row = from + (size_t)p.unit * columns + 2 * p.pair;
#pragma unroll
  for (int k = 0; k < N / 4; k++) {
    to[k * 4] = *(const uint32_t*)(row + k * 16); to[k * 4 + 1] = *(const uint32_t*)(row + 8 * columns + k * 16);
    to[k * 4 + 2] = *(const uint32_t*)(row + k * 16 + 8); to[k * 4 + 3] = *(const uint32_t*)(row + 8 * columns + k * 16 + 8);
  }
}
__device__ __forceinline__ void by_high(float (&acc)[16], uint32_t (&W)[STEPS * 4], uint32_t tile, int accumulate) {
#pragma unroll
  for (int k = 0; k < STEPS; k++)
    product(acc, W[k * 4], W[k * 4 + 1], W[k * 4 + 2], W[k * 4 + 3], swizzled(tile + (k >> 2) * PANEL + (k & 3) * 32), accumulate | (k > 0));
}
__device__ __forceinline__ void by_low(float (&acc)[16], uint32_t low, int group, uint32_t tile) {
#pragma unroll
  for (int k = 0; k < STEPS; k++)
    product(acc, swizzled(low + (k >> 2) * H * 128 + group * 8192 + (k & 3) * 32), swizzled(tile + (k >> 2) * PANEL + (k & 3) * 32), 1);
}
// Recurrent weights times the states in `tile`.
__device__ __forceinline__ void recurrent(float (&acc)[16], uint32_t (&W)[STEPS * 4], uint32_t low, int group, uint32_t tile, int accumulate) {
  by_high(acc, W, tile, accumulate);
  by_high(acc, W, tile + PART, 1);
  by_low(acc, low, group, tile);
}
// Writes a fragment of new states as high and low part.
__device__ __forceinline__ void store_states(const Place& p, char* tile, const float (&acc)[16]) {
#pragma unroll
  for (int c = 0; c < 2; c++) {
    uint32_t o[4];
#pragma unroll
    for (int i = 0; i < 4; i++) o[i] = pack(acc[c * 8 + 2 * i], acc[c * 8 + 2 * i + 1]);
    store_transposed(shared(tile) + p.corner[c], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int i = 0; i < 4; i++) o[i] = rest(acc[c * 8 + 2 * i], acc[c * 8 + 2 * i + 1], o[i]);
    store_transposed(shared(tile) + PART + p.corner[c], o[0], o[1], o[2], o[3]);
  }
}
// What is written for the gradients of weights: the high part or, with TANH, whose range is small, one float16.
#ifdef TANH
typedef __half note;
#else
typedef num note;
#endif
// Which of eight states after a ReLU are positive: unit u is bit u / 2 (+ 4, if u is odd).
__device__ __forceinline__ unsigned char positive(uint4 x) {
  const __nv_bfloat162 zero = __floats2bfloat162_rn(0.f, 0.f);
  auto of_two = [&](uint32_t v, uint32_t bits) { return __hgt2_mask(*(__nv_bfloat162*)&v, zero) & bits; };
  const uint32_t v = of_two(x.x, 0x10001) | of_two(x.y, 0x20002) | of_two(x.z, 0x40004) | of_two(x.w, 0x80008);
  return v | v >> 12;
}
// Writes states, with TANH times `scale`, to row `t` of an array [example][T][H], if `t` < T, and which of them are positive to
// row `t` - 1 of `masks`, if there are any; both point to the first example.
__device__ __forceinline__ void write_notes(const Place& p, const char* tile, note* out, unsigned char* masks, int T, int t, float scale) {
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int i = p.tid + k * THREADS, n = i / (H / 8), c = i % (H / 8);
    const char* at = tile + piece(n, c, ROWS);
    uint4 x = *(const uint4*)at;
    if (masks && n < p.rows) masks[((uint32_t)n * T + t - 1) * (H / 8) + c] = positive(x);
#ifdef TANH
    const uint4 low = *(const uint4*)(at + PART);
    auto sum = [&](uint32_t a, uint32_t b) {
      const float2 u = unpack(a), v = unpack(b);
      return pack_saturated((u.x + v.x) * scale, (u.y + v.y) * scale);
    };
    x = make_uint4(sum(x.x, low.x), sum(x.y, low.y), sum(x.z, low.z), sum(x.w, low.w));
#endif
    if (n < p.rows && t < T) *(uint4*)(out + ((uint32_t)n * T + t) * H + 8 * c) = x;
  }
}
__device__ __forceinline__ void write_notes(const Place& p, const char* tile, note* out, int T, int t, float scale) {
  write_notes(p, tile, out, nullptr, T, t, scale);
}
// Writes states to row `t` of an array [example][T][H].
__device__ __forceinline__ void write_outputs(const Place& p, const char* tile, float* out, int T, int t) {
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int i = p.tid + k * THREADS, n = i / (H / 4), c = i % (H / 4);
    const char* at = tile + piece(n, c >> 1, ROWS) + (c & 1) * 8;
    const uint2 high = *(const uint2*)at, low = *(const uint2*)(at + PART);
    const float2 x = unpack(high.x), y = unpack(high.y), dx = unpack(low.x), dy = unpack(low.y);
    if (n < p.rows) *(float4*)(out + ((uint32_t)n * T + t) * H + 4 * c) = make_float4(x.x + dx.x, x.y + dx.y, y.x + dy.x, y.y + dy.y);
  }
}
// The words of eight examples' masks of step t with this thread's two units, and the bit of the first; that of the other is 8 later.
__device__ __forceinline__ int bit_of(const Place& p) { return (p.lane >> 3) + (p.lane & 4); }
__device__ __forceinline__ void load_masks(const Place& p, uint32_t (&to)[8], const unsigned short* masks, int T, int t) {
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int n = 8 * (i >> 1) + 2 * p.pair + (i & 1);
    to[i] = n < p.rows ? masks[((uint32_t)n * T + t) * (H / 16) + p.group * 4 + p.warp] : 0;
  }
}
// 16 x 32 = (16 x H) times a tile, in parts [group][16][36] that the reader adds up. `high` and `low`: fragments [H / 16][32][8].
__device__ __forceinline__ void heads(const Place& p, const uint4* high, const uint4* low, uint32_t tile, float* sums) {
  float d[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
  for (int c = 0; c < 2; c++) {
    uint32_t v[4], l[4];
    const int n = 8 * p.warp + (p.lane & 7), chunk = 4 * c + (p.lane >> 3);
    const uint32_t at = tile + p.group * PANEL + n * 128 + ((chunk ^ (n & 7)) << 4);
    load_matrices(v, at); load_matrices(l, at + PART);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const int i = (p.group * 4 + 2 * c + k) * 32 + p.lane;
      const uint4 w = high[i];
      small_product(d, w, v[2 * k], v[2 * k + 1]); small_product(d, w, l[2 * k], l[2 * k + 1]); small_product(d, low[i], v[2 * k], v[2 * k + 1]);
    }
  }
  float* s = sums + (p.group * 16 + (p.lane >> 2)) * 36 + 8 * p.warp + 2 * p.pair;
  *(float2*)s = make_float2(d[0], d[1]); *(float2*)(s + 8 * 36) = make_float2(d[2], d[3]);
}
__device__ __forceinline__ float total(const float* sums, int row, int n) {
  float s = 0.f;
#pragma unroll
  for (int k = 0; k < GROUPS; k++) s += sums[(k * 16 + row) * 36 + n];
  return s;
}
