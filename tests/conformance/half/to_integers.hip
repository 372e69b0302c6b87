#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void convert(const __half* x, int* cut, int* rn, int* rd, int* ru, unsigned* u, int64_t* wide, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    cut[i] = __half2int_rn(x[i]);
    rn[i] = __half2int_rz(hrint(x[i]));
    rd[i] = (int)floorf(__half2float(x[i]));
    ru[i] = __half2int_ru(hceil(x[i]));
    u[i] = __half2uint_rz(__habs(x[i]));
    wide[i] = __half2ll_rn(x[i]);
}

extern "C" void run_float16(const __half* x, int64_t n, int* cut, int* rn, int* rd, int* ru, unsigned* u, int64_t* wide, hipStream_t stream) {
    convert<<<1, 256, 0, stream>>>(x, cut, rn, rd, ru, u, wide, n);
}
