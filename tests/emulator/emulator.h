// Runs CUDA kernels that use the instructions of Hopper on a CPU. Every thread of a cluster is a fibre; one after the
// other they run until they wait for others. Slow and exact: it shows errors of layouts and missing barriers, not speed.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <vector>

// The part of CUDA C++ that the kernels use.
#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
using std::max;
using std::min;
struct Index { unsigned x; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct uint2 { uint32_t x, y; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
template <class T> void __stcs(T* p, T v) { *p = v; }
template <class T> T __ldcs(const T* p) { return *p; }
template <class T> void __stcg(T* p, T v) { *p = v; }
template <class T> T __ldcg(const T* p) { return *p; }
inline float __expf(float x) { return expf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline uint32_t __float_as_uint(float x) { return std::bit_cast<uint32_t>(x); }
inline float __uint_as_float(uint32_t x) { return std::bit_cast<float>(x); }
inline uint32_t __float2uint_rn(float x) { return x > 0 ? (uint32_t)lrintf(x) : 0; }

struct Meeting {
  int count = 0;
  unsigned generation = 0;
  std::vector<char> table;
};
struct Barrier {
  uint32_t count, pending, phase = 0;
  int64_t bytes = 0;
};
struct Block {
  unsigned index;
  std::vector<char> store;
  char* memory;                          // shared memory, in `store`
  std::map<int, Meeting> meetings;       // of threads, by a number
  std::map<uint32_t, Barrier> barriers;  // by address
};
struct Fibre {
  ucontext_t context;
  std::vector<char> stack;
  int thread;
  Block* block;
  bool done = false;
};
inline Fibre* current;
inline ucontext_t scheduler;
inline std::vector<Block> cluster;
inline Meeting of_cluster;
inline int threads_of_block;
inline std::vector<std::function<void()>> in_flight;  // copies between blocks

#define threadIdx (Index{(unsigned)current->thread})
#define blockIdx (Index{current->block->index})
#define blockDim (Index{(unsigned)threads_of_block})
inline void yield() { swapcontext(&current->context, &scheduler); }
inline char* block_memory() { return current->block->memory; }
inline int lane_of() { return current->thread & 31; }
inline void meet(Meeting& meeting, int number) {
  const unsigned generation = meeting.generation;
  if (++meeting.count == number) {
    meeting.count = 0;
    meeting.generation++;
  } else {
    while (meeting.generation == generation) yield();
  }
}
inline void __syncthreads() { meet(current->block->meetings[0], threads_of_block); }
inline void group_sync(int group) { meet(current->block->meetings[1 + group], 128); }

// Every thread of a group puts something on the table, which all can see until they meet again.
template <class T> const T* exchange(int id, int number, int place, T mine) {
  Meeting& meeting = current->block->meetings[id];
  meeting.table.resize(max(meeting.table.size(), number * sizeof(T)));
  meet(meeting, number);
  ((T*)meeting.table.data())[place] = mine;
  meet(meeting, number);
  return (const T*)meeting.table.data();
}
template <class T> const T* in_warp(T mine) { return exchange(100 + (current->thread >> 5), 32, lane_of(), mine); }
template <class T> const T* in_group(T mine) { return exchange(200 + (current->thread >> 7), 128, current->thread & 127, mine); }
inline float __shfl_xor_sync(uint32_t, float x, int mask) { return in_warp(x)[lane_of() ^ mask]; }
inline bool __any_sync(uint32_t, bool x) {
  const bool* all = in_warp(x);
  return std::find(all, all + 32, true) != all + 32;
}
inline void __syncwarp() { in_warp(0); }
inline uint32_t __ballot_sync(uint32_t, bool x) {
  const bool* all = in_warp(x);
  uint32_t bits = 0;
  for (int i = 0; i < 32; i++) bits |= (uint32_t)all[i] << i;
  return bits;
}
