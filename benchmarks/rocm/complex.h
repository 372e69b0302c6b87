// What torch's headers name of rocThrust's `thrust/complex.h`, declared only: Debian's HIP comes without it. The real one is longer to read.
#pragma once
#define KV_THRUST template <class T> __host__ __device__
namespace thrust {
template <class T>
class complex {
 public:
  __host__ __device__ complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  __host__ __device__ T real() const { return real_; }
  __host__ __device__ T imag() const { return imag_; }

 private:
  T real_, imag_;
};
KV_THRUST T abs(const complex<T>&);
KV_THRUST complex<T> polar(const T&, const T& = T());
KV_THRUST complex<T> pow(const complex<T>&, const complex<T>&);
KV_THRUST complex<T> pow(const complex<T>&, const T&);
KV_THRUST complex<T> pow(const T&, const complex<T>&);
KV_THRUST complex<T> exp(const complex<T>&);
KV_THRUST complex<T> log(const complex<T>&);
KV_THRUST complex<T> log10(const complex<T>&);
KV_THRUST complex<T> sqrt(const complex<T>&);
KV_THRUST complex<T> sin(const complex<T>&);
KV_THRUST complex<T> cos(const complex<T>&);
KV_THRUST complex<T> tan(const complex<T>&);
KV_THRUST complex<T> asin(const complex<T>&);
KV_THRUST complex<T> acos(const complex<T>&);
KV_THRUST complex<T> atan(const complex<T>&);
KV_THRUST complex<T> sinh(const complex<T>&);
KV_THRUST complex<T> cosh(const complex<T>&);
KV_THRUST complex<T> tanh(const complex<T>&);
KV_THRUST complex<T> asinh(const complex<T>&);
KV_THRUST complex<T> acosh(const complex<T>&);
KV_THRUST complex<T> atanh(const complex<T>&);
}  // namespace thrust
#undef KV_THRUST
