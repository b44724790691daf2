// The other instructions, in place of those for a GPU.
#pragma once
#include "emulator.h"
#define SHARED_MEMORY(name) char* name = block_memory()

// Addresses are offsets in a block's memory, plus (rank + 1) << 24 where another block is meant.
inline uint32_t shared(const void* p) { return (const char*)p - block_memory(); }
inline Block& block_at(uint32_t at) { return at >> 24 ? cluster[(at >> 24) - 1] : *current->block; }
inline Barrier& barrier_at(uint32_t at) { return block_at(at).barriers.at(at & 0xFFFFFF); }

inline void product_fence() {}
inline void product_commit() {}
inline void product_wait() {}
template <class T> void keep(T&) {}
inline void async_fence() {}
struct Matrices { uint32_t at, r[4]; };
inline void store_transposed(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const Matrices* all = in_warp(Matrices{at, {a, b, c, d}});
  if (lane_of() == 0)
    for (int i = 0; i < 4; i++)
      for (int t = 0; t < 32; t++)
        for (int e = 0; e < 2; e++)
          *(uint16_t*)(block_memory() + all[8 * i + 2 * (t % 4) + e].at + 2 * (t / 4)) = all[t].r[i] >> 16 * e;
  in_warp(0);
}
inline void load_matrices(uint32_t (&v)[4], uint32_t at) {
  const uint32_t* all = in_warp(at);
  for (int i = 0; i < 4; i++) v[i] = *(const uint32_t*)(block_memory() + all[8 * i + lane_of() / 4] + 4 * (lane_of() % 4));
}
inline void prefetch(const void*) {}
inline void prefetch(const void*, uint32_t) {}

inline uint32_t cluster_rank() { return current->block - cluster.data(); }
inline uint32_t at_rank(uint32_t address, uint32_t rank) { return address | (rank + 1) << 24; }
inline void cluster_sync() { meet(of_cluster, threads_of_block * cluster.size()); }
inline void barrier_init(uint32_t at, uint32_t count) { current->block->barriers[at] = Barrier{count, count}; }
inline void complete(Barrier& barrier, int arrivals, int64_t bytes) {
  barrier.pending -= arrivals;
  barrier.bytes += bytes;
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.phase ^= 1;
    barrier.pending = barrier.count;
  }
}
inline void barrier_expect(uint32_t at, uint32_t bytes) { complete(barrier_at(at), 1, bytes); }
inline void barrier_arrive_remote(uint32_t at) { complete(barrier_at(at), 1, 0); }
inline void barrier_wait(uint32_t at, uint32_t parity) {
  while (barrier_at(at).phase == parity) yield();
}
inline void send(uint32_t to, uint32_t from, uint32_t bytes, uint32_t barrier) {
  char *target = block_at(to).memory + (to & 0xFFFFFF), *source = block_memory() + from;
  Barrier& told = barrier_at(barrier);
  in_flight.push_back([=, &told] {
    memcpy(target, source, bytes);
    complete(told, 0, -(int64_t)bytes);
  });
}
inline void send(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t barrier) {
  uint4* target = (uint4*)(block_at(to).memory + (to & 0xFFFFFF));
  Barrier& told = barrier_at(barrier);
  in_flight.push_back([=, &told] {
    *target = make_uint4(a, b, c, d);
    complete(told, 0, -16);
  });
}

inline float fast_tanh(float x) { return tanhf(x); }
inline float relu(float x) { return x < 0.f ? 0.f : x; }
inline uint32_t pack_saturated(float a, float b) {
  auto one = [](float x) { return (uint32_t)std::bit_cast<uint16_t>((_Float16)(x > 65504.f ? 65504.f : x < -65504.f ? -65504.f : x)); };
  return one(a) | one(b) << 16;
}
