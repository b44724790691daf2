// Where matrices lie in shared memory, and the sizes of a launch.
//
// A "tile" is a matrix of 16-bit numbers in shared memory in the layout that the tensor cores read: panels of 64 columns,
// each row of a panel 128 bytes long, its eight pieces of 16 bytes exchanged by row (the "128-byte swizzle").
#pragma once
#include <stdint.h>

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
  int classes;        // of the readout that the kernel applies; 0: outputs are hidden states
};
