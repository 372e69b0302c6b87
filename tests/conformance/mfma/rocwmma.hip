#include <hip/hip_runtime.h>
#include <rocwmma/rocwmma.hpp>

__global__ void product(const float* x, float* d) {
    rocwmma::fragment<rocwmma::accumulator, 16, 16, 16, float> sum;
    rocwmma::fill_fragment(sum, x[0]);
    rocwmma::store_matrix_sync(d, sum, 16, rocwmma::mem_row_major);
}

extern "C" void run(const float* x, int64_t, float* d, hipStream_t stream) { product<<<1, 64, 0, stream>>>(x, d); }
