#pragma once
#include "emulator.h"
struct __half {
  _Float16 number;
  __half() = default;
  explicit __half(float x) : number((_Float16)x) {}
};
struct __half2 { __half x, y; };
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline float2 __half22float2(__half2 v) { return {(float)v.x.number, (float)v.y.number}; }
