#include <hip/hip_runtime.h>

// Threads of one wave read a word whole while its bytes belong to others later.
__global__ void pack(const float* x, float* out) {
    __shared__ unsigned words[64];
    int t = threadIdx.x;
    words[t] = 0x01010101u * t;
    __syncthreads();
    unsigned seen = words[t ^ 32];
    __syncthreads();
    for (int byte = 0; byte < 4; byte++) reinterpret_cast<unsigned char*>(words)[byte * 64 + t] = (unsigned char)(seen + byte);
    __syncthreads();
    out[t] = float(words[t] & 0xff) + 0 * x[t];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    pack<<<1, 64, 0, stream>>>(x, out);
}
