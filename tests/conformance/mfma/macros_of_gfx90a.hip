#include <cstring>
#include <hip/hip_runtime.h>

// What is compiled is what a candidate's target chooses, and host code has a device of that target.
__global__ void which(int* out, int units, int lds_bytes, int named) {
    out[1] = units;
    out[2] = lds_bytes;
    out[3] = named;
#if defined(__gfx950__)
    out[0] = 0x950;
#elif defined(__gfx942__)
    out[0] = 0x942;
#elif defined(__gfx90a__)
    out[0] = 0x90a;
#endif
}

extern "C" void run(const int*, int64_t, int* out, hipStream_t stream) {
    hipDeviceProp_t has;
    hipGetDeviceProperties(&has, 0);
    which<<<1, 1, 0, stream>>>(out, has.multiProcessorCount, int(has.sharedMemPerBlock), strncmp(has.gcnArchName, "gfx90a", 6) == 0);
}
