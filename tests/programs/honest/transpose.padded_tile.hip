#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define TILE_DIM 32
#define BLOCK_ROWS 8

template <typename T> __global__ void transposeNoBankConflicts(T* odata, const T* idata, int rows, int cols) {
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = idata[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < rows && y + j < cols) odata[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T> void go(const T* x, int64_t r, int64_t c, T* out, hipStream_t s) {
    dim3 block(TILE_DIM, BLOCK_ROWS), grid((c + TILE_DIM - 1) / TILE_DIM, (r + TILE_DIM - 1) / TILE_DIM);
    hipLaunchKernelGGL(transposeNoBankConflicts<T>, grid, block, 0, s, out, x, int(r), int(c));
}
extern "C" void run(const float* x, int64_t r, int64_t c, float* out, hipStream_t s) { go(x, r, c, out, s); }
extern "C" void run_float16(const _Float16* x, int64_t r, int64_t c, _Float16* out, hipStream_t s) { go(x, r, c, out, s); }
