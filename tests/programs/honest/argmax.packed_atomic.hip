// A 64-bit key of value and place, and atomicMax on it; a second kernel unpacks.
#include <hip/hip_runtime.h>

__device__ unsigned ordered(float f) {
    const unsigned u = __float_as_uint(f);
    return (u & 0x80000000u) ? ~u : u | 0x80000000u;
}
__device__ float unordered(unsigned u) { return __uint_as_float((u & 0x80000000u) ? u & 0x7fffffffu : ~u); }

__global__ void find(const float* x, unsigned long long* best, int cols) {
    unsigned long long key = 0;
    const int row = blockIdx.y;
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
        const unsigned long long mine = (unsigned long long)ordered(x[row * cols + c]) << 32 | (0xffffffffu - c);
        key = mine > key ? mine : key;
    }
    for (int o = 32; o; o >>= 1) {
        const unsigned long long other = __shfl_down(key, o);
        key = other > key ? other : key;
    }
    if ((threadIdx.x & 63) == 0) atomicMax(best + row, key);
}

__global__ void unpack(const unsigned long long* best, float* values, int64_t* index, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        values[r] = unordered(best[r] >> 32);
        index[r] = 0xffffffffu - (unsigned)best[r];
    }
}

extern "C" void run(const float* x, int64_t rows, int64_t cols, float* values, int64_t* index, hipStream_t s) {
    unsigned long long* best;
    hipMallocAsync((void**)&best, rows * sizeof(*best), s);
    hipMemsetAsync(best, 0, rows * sizeof(*best), s);
    find<<<dim3(2, rows), 128, 0, s>>>(x, best, cols);
    unpack<<<(rows + 63) / 64, 64, 0, s>>>(best, values, index, rows);
    hipFreeAsync(best, s);
}
