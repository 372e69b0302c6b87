#include <hip/hip_runtime.h>

__global__ void split(const float* x, float* out) {
    extern __shared__ char memory[];
    double* wide = reinterpret_cast<double*>(memory);
    float* narrow = reinterpret_cast<float*>(wide + 64);
    unsigned char* marks = reinterpret_cast<unsigned char*>(narrow + 64);
    int t = threadIdx.x;
    wide[t] = x[t];
    narrow[t] = x[t + 64];
    marks[t] = x[t] > 0;
    __syncthreads();
    int other = 63 - t;
    out[t] = float(wide[other]) + narrow[other] + marks[other];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    split<<<1, 64, 64 * (8 + 4 + 1), stream>>>(x, out);
}
