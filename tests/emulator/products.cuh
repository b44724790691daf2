// Products of the tensor cores, as build.py writes them for a GPU. HALF: of float16, otherwise of bfloat16.
#pragma once
#include "emulator.h"

inline float number(uint16_t bits) {
#ifdef HALF
  return (float)std::bit_cast<_Float16>(bits);
#else
  return std::bit_cast<float>((uint32_t)bits << 16);
#endif
}
// Number (row n, column k) of a factor in shared memory.
inline float described(uint64_t d, int n, int k) {
  const uint32_t start = (d & 0x3FFF) << 4, lead = (d >> 16 & 0x3FFF) << 4, stride = (d >> 32 & 0x3FFF) << 4;
  uint32_t at = start + (n / 8) * stride;
  if (d >> 62 == 1) {  // swizzled
    at += (n % 8) * 128 + k * 2;
    at ^= (at >> 7 & 7) << 4;
  } else {
    at += (k / 8) * lead + (n % 8) * 16 + (k % 8) * 2;
  }
  return number(*(const uint16_t*)(block_memory() + at));
}
// Row and column, in a first factor of 16 columns, of half `e` of register `i` of a thread of a warp.
inline int row_of(int lane, int i) { return lane / 4 + 8 * (i % 2); }
inline int column_of(int lane, int i, int e) { return 2 * (lane % 4) + 8 * (i / 2) + e; }

template <int C> void multiply(float (&d)[C], const float (&a)[64][16], uint64_t b, int accumulate) {
  const int warp = current->thread >> 5 & 3, lane = lane_of();
  for (int x = 0; x < C; x++) {
    float sum = accumulate ? d[x] : 0.f;
    for (int k = 0; k < 16; k++)
      sum += a[16 * warp + lane / 4 + 8 * (x >> 1 & 1)][k] * described(b, 8 * (x / 4) + 2 * (lane % 4) + (x & 1), k);
    d[x] = sum;
  }
  in_group(0);
}
struct Registers { uint32_t r[4]; };
template <int C>
__attribute__((noinline)) void product(float (&d)[C], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t b, int accumulate) {
  const Registers* all = in_group(Registers{{a0, a1, a2, a3}});
  float a[64][16];
  for (int t = 0; t < 128; t++)
    for (int i = 0; i < 4; i++)
      for (int e = 0; e < 2; e++) a[16 * (t >> 5) + row_of(t & 31, i)][column_of(t & 31, i, e)] = number(all[t].r[i] >> 16 * e);
  multiply(d, a, b, accumulate);
}
template <int C> __attribute__((noinline)) void product(float (&d)[C], uint64_t a_at, uint64_t b, int accumulate) {
  in_group(0);
  float a[64][16];
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 16; k++) a[i][k] = described(a_at, i, k);
  multiply(d, a, b, accumulate);
}
struct SmallFactors { uint32_t a[4], b[2]; };
inline void small_product(float (&d)[4], uint4 a, uint32_t b0, uint32_t b1) {
  const SmallFactors* all = in_warp(SmallFactors{{a.x, a.y, a.z, a.w}, {b0, b1}});
  float first[16][16], second[16][8];
  for (int t = 0; t < 32; t++)
    for (int e = 0; e < 2; e++) {
      for (int i = 0; i < 4; i++) first[row_of(t, i)][column_of(t, i, e)] = number(all[t].a[i] >> 16 * e);
      for (int i = 0; i < 2; i++) second[2 * (t % 4) + 8 * i + e][t / 4] = number(all[t].b[i] >> 16 * e);
    }
  for (int x = 0; x < 4; x++)
    for (int k = 0; k < 16; k++) d[x] += first[lane_of() / 4 + 8 * (x / 2)][k] * second[k][2 * (lane_of() % 4) + (x & 1)];
}

// Of TF32: the layout of a first factor of eight columns is that of the 16 above, with four columns where there are eight.
inline uint32_t to_tf32(float x) {
  const uint32_t all = std::bit_cast<uint32_t>(x);
  return x != x ? 0x7FFFFFFF : (all + 0x1000) & ~0x1FFFu;
}
struct SinglePrecisionFactors { uint32_t a[4], b[2]; };
inline void tf32_product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const SinglePrecisionFactors* all = in_warp(SinglePrecisionFactors{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  auto number = [](uint32_t bits) { return std::bit_cast<float>(bits & ~0x1FFFu); };
  float first[16][8], second[8][8];
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 4; i++) first[row_of(t, i)][t % 4 + 4 * (i / 2)] = number(all[t].a[i]);
    for (int i = 0; i < 2; i++) second[t % 4 + 4 * i][t / 4] = number(all[t].b[i]);
  }
  for (int x = 0; x < 4; x++)
    for (int k = 0; k < 8; k++) d[x] += first[lane_of() / 4 + 8 * (x / 2)][k] * second[k][2 * (lane_of() % 4) + (x & 1)];
}
