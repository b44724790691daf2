// Instructions of Hopper that CUDA C++ has no functions for: matrices in shared memory, barriers, clusters.
//
// A "tile" is a matrix of 16-bit numbers in shared memory in the layout that the tensor cores read: panels of 64 columns,
// each row of a panel 128 bytes long, its eight pieces of 16 bytes exchanged by row (the "128-byte swizzle").
#pragma once
#include <stdint.h>

__device__ __forceinline__ uint32_t shared(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// Where piece `c` of row `n` of a tile of `rows` rows lies.
__device__ __forceinline__ uint32_t piece(int n, int c, int rows) {
  return (c >> 3) * rows * 128 + n * 128 + (((c & 7) ^ (n & 7)) << 4);
}
// Descriptor of a factor in shared memory: 8 rows of a panel, 1024 bytes to the next 8.
__device__ __forceinline__ uint64_t swizzled(uint32_t address) {
  return (uint64_t)((address & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
// The same without swizzle: blocks of 8 rows x 16 bytes; `lead` bytes to the next piece of a row, `stride` to the next 8 rows.
__device__ __forceinline__ uint64_t plain(uint32_t address, uint32_t lead, uint32_t stride) {
  return (uint64_t)((address & 0x3FFFF) >> 4) | ((uint64_t)(lead >> 4) << 16) | ((uint64_t)(stride >> 4) << 32);
}

// Products run asynchronously: fence, products, commit, wait. `keep` tells the compiler that registers change meanwhile.
__device__ __forceinline__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
template <int N> __device__ __forceinline__ void keep(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int N> __device__ __forceinline__ void keep(uint32_t (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+r"(d[i])::"memory");
}
// What threads have written to shared memory becomes visible to products and copies.
__device__ __forceinline__ void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void store_transposed(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
__device__ __forceinline__ void load_matrices(uint32_t (&v)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
__device__ __forceinline__ void prefetch(const void* p, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes) : "memory");
}

// Clusters: several blocks that reach each other's shared memory, and barriers that count arrivals and bytes.
__device__ __forceinline__ uint32_t cluster_rank() { uint32_t r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank)); return r;
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive_remote(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}\n" ::"r"(barrier), "r"(parity) : "memory");
}
// Copies shared memory into another block's; its barrier counts the bytes.
__device__ __forceinline__ void send(uint32_t to, uint32_t from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "r"(from), "r"(bytes), "r"(barrier) : "memory");
}
__device__ __forceinline__ void send(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d), "r"(barrier) : "memory");
}
// All threads of one warpgroup.
__device__ __forceinline__ void group_sync(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

// A row-major matrix of `rows` x `columns` 16-bit numbers into a tile; row n of the tile is row order(n) of the matrix.
template <class Order> __device__ __forceinline__ void load_tile(const uint4* from, char* to, int rows, int columns, Order order) {
  const int pieces = columns / 8;
  for (int i = threadIdx.x; i < rows * pieces; i += blockDim.x) {
    const int n = i / pieces, c = i % pieces;
    *(uint4*)(to + piece(n, c, rows)) = from[order(n) * pieces + c];
  }
}

// The sizes that a launch is told, in a buffer: kernels called through XLA get addresses only.
struct Sizes {
  int batch, steps, symbols;
  int symbol_stride;  // between members: 0 where all see the same symbols
  int keeps;          // whether a backward pass follows
};
