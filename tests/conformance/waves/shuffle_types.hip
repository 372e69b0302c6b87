#include <hip/hip_runtime.h>
// Lane l reads lane 63 - l, in every type that has a shuffle.
template <typename T>
__global__ void reverse(const T* x, T* out) {
    out[threadIdx.x] = __shfl(x[threadIdx.x], 63 - int(threadIdx.x));
}

extern "C" void run(const int* i, const unsigned* u, const long* l, const unsigned long long* ull, const float* f, const double* d,
                    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int* oi, unsigned* ou, long* ol, unsigned long long* oull,
                    float* of, double* od, hipStream_t stream) {
    reverse<<<1, 64, 0, stream>>>(i, oi);
    reverse<<<1, 64, 0, stream>>>(u, ou);
    reverse<<<1, 64, 0, stream>>>(l, ol);
    reverse<<<1, 64, 0, stream>>>(ull, oull);
    reverse<<<1, 64, 0, stream>>>(f, of);
    reverse<<<1, 64, 0, stream>>>(d, od);
}
