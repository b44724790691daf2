#pragma once
#include "emulator.h"
struct __nv_bfloat16 {
  uint16_t bits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float x) {
    const uint32_t all = std::bit_cast<uint32_t>(x);
    bits = x != x ? 0x7FFF : (all + 0x7FFF + (all >> 16 & 1)) >> 16;
  }
};
struct __nv_bfloat162 { __nv_bfloat16 x, y; };
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return std::bit_cast<float>((uint32_t)x.bits << 16); }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {__bfloat162float(v.x), __bfloat162float(v.y)}; }
inline uint32_t __hgt2_mask(__nv_bfloat162 a, __nv_bfloat162 b) {
  const float2 x = __bfloat1622float2(a), y = __bfloat1622float2(b);
  return (x.x > y.x ? 0xFFFFu : 0u) | (x.y > y.y ? 0xFFFF0000u : 0u);
}
