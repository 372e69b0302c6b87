// The AMDGPU builtins that the CPU model has, declared as functions. Device code that is compiled for x86-64 reads this
// before AMD's own HIP headers, so that types, overloads and mangled names are those of the GPU pass; the runtime
// includes it to check its definitions. A builtin that is not here ends a candidate as NEEDS_DEVICE.
// Signatures: clang's BuiltinsAMDGPU; semantics: "AMD Instinct MI300 Instruction Set Architecture".
#pragma once

#ifdef __HIP__
#define KV_BUILTIN extern "C" __attribute__((device))
#define KV_SPACE(number) __attribute__((address_space(number)))
#else
#define KV_BUILTIN extern "C"
#define KV_SPACE(number)
#endif
#define KV(result, name, ...) KV_BUILTIN result __builtin_amdgcn_##name(__VA_ARGS__)
#define KV_PURE(result, name, ...) KV_BUILTIN __attribute__((const)) result __builtin_amdgcn_##name(__VA_ARGS__)
#define KV_VECTOR(type, count) __attribute__((__vector_size__(count * sizeof(type)))) type

typedef KV_VECTOR(float, 2) __kv_f32x2;
typedef KV_VECTOR(float, 4) __kv_f32x4;
typedef KV_VECTOR(float, 16) __kv_f32x16;
typedef KV_VECTOR(float, 32) __kv_f32x32;
typedef KV_VECTOR(double, 4) __kv_f64x4;
typedef KV_VECTOR(int, 2) __kv_i32x2;
typedef KV_VECTOR(int, 4) __kv_i32x4;
typedef KV_VECTOR(int, 8) __kv_i32x8;
typedef KV_VECTOR(int, 16) __kv_i32x16;
typedef KV_VECTOR(int, 32) __kv_i32x32;
typedef KV_VECTOR(unsigned, 2) __kv_u32x2;
typedef KV_VECTOR(signed char, 4) __kv_i8x4;
typedef KV_VECTOR(unsigned char, 4) __kv_u8x4;
typedef KV_VECTOR(short, 2) __kv_i16x2;
typedef KV_VECTOR(short, 4) __kv_i16x4;
typedef KV_VECTOR(short, 8) __kv_i16x8;
typedef KV_VECTOR(unsigned short, 2) __kv_u16x2;
typedef KV_VECTOR(_Float16, 2) __kv_f16x2;
typedef KV_VECTOR(_Float16, 4) __kv_f16x4;
typedef KV_VECTOR(_Float16, 8) __kv_f16x8;
typedef KV_VECTOR(__bf16, 8) __kv_bf16x8;
typedef KV_VECTOR(__bf16, 2) __kv_bf16x2;

// Work-group, fences, scheduling hints. `s_barrier` is the runtime's own: its return address is the barrier's site.
KV(void, s_barrier, );
KV(void, wave_barrier, );
KV(void, fence, unsigned, const char*, ...);
KV(void, s_waitcnt, int);
KV(void, sched_barrier, int);
KV(void, sched_group_barrier, int, int, int);
KV(void, iglp_opt, int);
KV(void, s_sleep, int);
KV(void, s_setprio, short);
KV(void, s_sethalt, int);
KV(void, s_dcache_inv, );
KV(void, s_dcache_wb, );
KV(void, s_incperflevel, int);
KV(void, s_decperflevel, int);
KV(void, buffer_wbinvl1, );
KV(unsigned long, s_memtime, );
KV(unsigned long, s_memrealtime, );
// Declared for AMD's headers: the runtime has none of these.
KV(unsigned, s_getreg, int);
KV_PURE(unsigned, groupstaticsize, );

// The place of a thread.
KV_BUILTIN __attribute__((noreturn)) void __builtin_amdgcn_endpgm();
KV_PURE(unsigned, workitem_id_x, );
KV_PURE(unsigned, workitem_id_y, );
KV_PURE(unsigned, workitem_id_z, );
KV_PURE(unsigned, workgroup_id_x, );
KV_PURE(unsigned, workgroup_id_y, );
KV_PURE(unsigned, workgroup_id_z, );
KV_PURE(unsigned short, workgroup_size_x, );
KV_PURE(unsigned short, workgroup_size_y, );
KV_PURE(unsigned short, workgroup_size_z, );
KV_PURE(unsigned, grid_size_x, );
KV_PURE(unsigned, grid_size_y, );
KV_PURE(unsigned, grid_size_z, );
KV_PURE(unsigned, wavefrontsize, );
KV_PURE(bool, is_shared, const void*);
KV_PURE(bool, is_private, const void*);

// Lanes of a wave.
KV_PURE(unsigned, mbcnt_lo, unsigned, unsigned);
KV_PURE(unsigned, mbcnt_hi, unsigned, unsigned);
KV(unsigned long, ballot_w64, bool);
KV(bool, inverse_ballot_w64, unsigned long);
KV(unsigned long, read_exec, );
KV(unsigned, read_exec_lo, );
KV(unsigned, read_exec_hi, );
KV(int, readfirstlane, int);
KV(int, readlane, int, int);
KV(int, ds_bpermute, int, int);
KV(int, ds_permute, int, int);
KV(int, ds_swizzle, int, int);
KV(int, mov_dpp, int, int, int, int, bool);
KV(int, update_dpp, int, int, int, int, int, bool);
#ifdef __HIP__
// Clang's builtins move the bits of other types, too: integers of up to 32 as int, these as what they are.
template <class T, int kSize = sizeof(T), bool kIsFloat = __is_floating_point(T)>
struct __kv_moves;
template <class T>
struct __kv_moves<T, 4, true> {
    using type = T;
};
template <class T, bool kIsFloat>
struct __kv_moves<T, 8, kIsFloat> {
    using type = T;
};
template <class T>
__attribute__((device, always_inline)) inline typename __kv_moves<T>::type __builtin_amdgcn_update_dpp(
    T old, T value, int control, int rows, int banks, bool bound) {
    int to[sizeof(T) / 4], from[sizeof(T) / 4];
    __builtin_memcpy(to, &old, sizeof old);
    __builtin_memcpy(from, &value, sizeof value);
    for (unsigned i = 0; i < sizeof(T) / 4; i++) to[i] = __builtin_amdgcn_update_dpp(to[i], from[i], control, rows, banks, bound);
    __builtin_memcpy(&old, to, sizeof old);
    return old;
}
template <class T>
__attribute__((device, always_inline)) inline typename __kv_moves<T>::type __builtin_amdgcn_mov_dpp(
    T value, int control, int rows, int banks, bool bound) {
    return __builtin_amdgcn_update_dpp(T(0), value, control, rows, banks, bound);
}
#endif
KV(__kv_u32x2, permlane16_swap, unsigned, unsigned, bool, bool);
KV(__kv_u32x2, permlane32_swap, unsigned, unsigned, bool, bool);
#define KV_REDUCE(width, type)                          \
    KV(unsigned type, wave_reduce_add_u##width, unsigned type, int); \
    KV(unsigned type, wave_reduce_sub_u##width, unsigned type, int); \
    KV(type, wave_reduce_min_i##width, type, int);                   \
    KV(unsigned type, wave_reduce_min_u##width, unsigned type, int); \
    KV(type, wave_reduce_max_i##width, type, int);                   \
    KV(unsigned type, wave_reduce_max_u##width, unsigned type, int); \
    KV(type, wave_reduce_and_b##width, type, int);                   \
    KV(type, wave_reduce_or_b##width, type, int);                    \
    KV(type, wave_reduce_xor_b##width, type, int);
KV_REDUCE(32, int)
KV_REDUCE(64, long)
#undef KV_REDUCE
KV(float, wave_reduce_fadd_f32, float, int);
KV(float, wave_reduce_fsub_f32, float, int);
KV(float, wave_reduce_fmin_f32, float, int);
KV(float, wave_reduce_fmax_f32, float, int);
KV(unsigned long, uicmp, unsigned, unsigned, int);
KV(unsigned long, sicmp, int, int, int);

// Atomics that are no atomicrmw.
KV(unsigned, atomic_inc32, volatile unsigned*, unsigned, unsigned, const char*);
KV(unsigned, atomic_dec32, volatile unsigned*, unsigned, unsigned, const char*);
KV(unsigned long, atomic_inc64, volatile unsigned long*, unsigned long, unsigned, const char*);
KV(unsigned long, atomic_dec64, volatile unsigned long*, unsigned long, unsigned, const char*);
// Pointers may name their address space, which is one of a flat machine's.
#ifdef __HIP__
#define KV_ATOMIC(name, space, type)                                                                                \
    KV(type, name, type*, type);                                                                                    \
    __attribute__((device, always_inline)) inline type __builtin_amdgcn_##name(KV_SPACE(space) type* p, type v) {  \
        return __builtin_amdgcn_##name((type*)p, v);                                                                \
    }
#else
#define KV_ATOMIC(name, space, type) KV(type, name, type*, type);
#endif
KV_ATOMIC(flat_atomic_fadd_f32, 1, float)
KV_ATOMIC(flat_atomic_fadd_f64, 1, double)
KV_ATOMIC(flat_atomic_fmin_f64, 1, double)
KV_ATOMIC(flat_atomic_fmax_f64, 1, double)
KV_ATOMIC(flat_atomic_fadd_v2f16, 1, __kv_f16x2)
KV_ATOMIC(flat_atomic_fadd_v2bf16, 1, __kv_i16x2)
KV_ATOMIC(global_atomic_fadd_f32, 1, float)
KV_ATOMIC(global_atomic_fadd_f64, 1, double)
KV_ATOMIC(global_atomic_fmin_f64, 1, double)
KV_ATOMIC(global_atomic_fmax_f64, 1, double)
KV_ATOMIC(global_atomic_fadd_v2f16, 1, __kv_f16x2)
KV_ATOMIC(global_atomic_fadd_v2bf16, 1, __kv_i16x2)
KV_ATOMIC(ds_atomic_fadd_f32, 3, float)
KV_ATOMIC(ds_atomic_fadd_f64, 3, double)
KV_ATOMIC(ds_atomic_fadd_v2f16, 3, __kv_f16x2)
KV_ATOMIC(ds_atomic_fadd_v2bf16, 3, __kv_i16x2)
#undef KV_ATOMIC
KV(float, ds_faddf, KV_SPACE(3) float*, float, int, int, bool);
KV(float, ds_fminf, KV_SPACE(3) float*, float, int, int, bool);
KV(float, ds_fmaxf, KV_SPACE(3) float*, float, int, int, bool);

// Global memory to LDS: each lane's bytes go to its place after the one base.
KV(void, global_load_lds, KV_SPACE(1) void*, KV_SPACE(3) void*, unsigned, int, unsigned);

// Scalar arithmetic.
KV_PURE(float, rcpf, float);
KV_PURE(double, rcp, double);
KV_PURE(float, rsqf, float);
KV_PURE(double, rsq, double);
KV_PURE(float, sqrtf, float);
KV_PURE(double, sqrt, double);
KV_PURE(float, exp2f, float);
KV_PURE(float, logf, float);
KV_PURE(float, sinf, float);
KV_PURE(float, cosf, float);
KV_PURE(float, fractf, float);
KV_PURE(double, fract, double);
KV_PURE(float, ldexpf, float, int);
KV_PURE(double, ldexp, double, int);
KV_PURE(int, frexp_expf, float);
KV_PURE(int, frexp_exp, double);
KV_PURE(float, frexp_mantf, float);
KV_PURE(double, frexp_mant, double);
KV_PURE(float, fmed3f, float, float, float);
KV_PURE(_Float16, fmed3h, _Float16, _Float16, _Float16);
KV_PURE(_Float16, rcph, _Float16);
KV_PURE(_Float16, rsqh, _Float16);
KV_PURE(_Float16, sqrth, _Float16);
KV_PURE(_Float16, sinh, _Float16);
KV_PURE(_Float16, cosh, _Float16);
KV_PURE(_Float16, fracth, _Float16);
KV_PURE(_Float16, ldexph, _Float16, int);
KV_PURE(_Float16, frexp_manth, _Float16);
KV_PURE(short, frexp_exph, _Float16);
KV_PURE(float, log_clampf, float);
KV(float, div_scalef, float, float, bool, bool*);
KV(double, div_scale, double, double, bool, bool*);
KV_PURE(float, div_fmasf, float, float, float, bool);
KV_PURE(double, div_fmas, double, double, double, bool);
KV_PURE(float, div_fixupf, float, float, float);
KV_PURE(double, div_fixup, double, double, double);
KV_PURE(bool, classh, _Float16, int);
KV_PURE(bool, classf, float, int);
KV_PURE(bool, class, double, int);
KV_PURE(unsigned, alignbit, unsigned, unsigned, unsigned);
KV_PURE(unsigned, alignbyte, unsigned, unsigned, unsigned);
KV_PURE(unsigned, perm, unsigned, unsigned, unsigned);
KV_PURE(unsigned, ubfe, unsigned, unsigned, unsigned);
KV_PURE(unsigned, sbfe, unsigned, unsigned, unsigned);
KV_PURE(unsigned, lerp, unsigned, unsigned, unsigned);
KV_PURE(unsigned, sad_u8, unsigned, unsigned, unsigned);
KV_PURE(unsigned, sad_u16, unsigned, unsigned, unsigned);
KV_PURE(unsigned, sad_hi_u8, unsigned, unsigned, unsigned);
KV_PURE(unsigned, msad_u8, unsigned, unsigned, unsigned);
KV_PURE(unsigned, bitop3_b32, unsigned, unsigned, unsigned, unsigned);
KV_PURE(unsigned, prng_b32, unsigned);
KV_PURE(int, mul_i24, int, int);
KV_PURE(unsigned, mul_u24, unsigned, unsigned);
KV_PURE(__kv_f16x2, cvt_pkrtz, float, float);
KV_PURE(float, fdot2, __kv_f16x2, __kv_f16x2, float, bool);
KV_PURE(float, fdot2_f32_bf16, __kv_bf16x2, __kv_bf16x2, float, bool);
KV_PURE(float, fdot2c_f32_bf16, __kv_bf16x2, __kv_bf16x2, float, bool);
KV_PURE(int, sdot2, __kv_i16x2, __kv_i16x2, int, bool);
KV_PURE(unsigned, udot2, __kv_u16x2, __kv_u16x2, unsigned, bool);
KV_PURE(int, sdot4, int, int, int, bool);
KV_PURE(unsigned, udot4, unsigned, unsigned, unsigned, bool);
KV_PURE(int, sdot8, int, int, int, bool);
KV_PURE(unsigned, udot8, unsigned, unsigned, unsigned, bool);

// Narrow floats, in the formats of the target whose macros are set: FNUZ up to gfx942, OCP on gfx950.
KV_PURE(float, cvt_f32_fp8, int, int);
KV_PURE(float, cvt_f32_bf8, int, int);
KV_PURE(__kv_f32x2, cvt_pk_f32_fp8, int, bool);
KV_PURE(__kv_f32x2, cvt_pk_f32_bf8, int, bool);
KV_PURE(int, cvt_pk_fp8_f32, float, float, int, bool);
KV_PURE(int, cvt_pk_bf8_f32, float, float, int, bool);
KV_PURE(int, cvt_sr_fp8_f32, float, int, int, int);
KV_PURE(int, cvt_sr_bf8_f32, float, int, int, int);

// Matrix instructions: D = A B + C of a whole wave. The three numbers are cbsz, abid, blgp.
#define KV_MATRIX(name, operand, sum) KV(sum, mfma_##name, operand, operand, sum, int, int, int)
KV_MATRIX(f32_32x32x1f32, float, __kv_f32x32);
KV_MATRIX(f32_16x16x1f32, float, __kv_f32x16);
KV_MATRIX(f32_4x4x1f32, float, __kv_f32x4);
KV_MATRIX(f32_32x32x2f32, float, __kv_f32x16);
KV_MATRIX(f32_16x16x4f32, float, __kv_f32x4);
KV_MATRIX(f32_16x16x8_xf32, __kv_f32x2, __kv_f32x4);
KV_MATRIX(f32_32x32x4_xf32, __kv_f32x2, __kv_f32x16);
KV_MATRIX(f32_32x32x4f16, __kv_f16x4, __kv_f32x32);
KV_MATRIX(f32_16x16x4f16, __kv_f16x4, __kv_f32x16);
KV_MATRIX(f32_4x4x4f16, __kv_f16x4, __kv_f32x4);
KV_MATRIX(f32_32x32x8f16, __kv_f16x4, __kv_f32x16);
KV_MATRIX(f32_16x16x16f16, __kv_f16x4, __kv_f32x4);
KV_MATRIX(f32_32x32x2bf16, __kv_i16x2, __kv_f32x32);
KV_MATRIX(f32_16x16x2bf16, __kv_i16x2, __kv_f32x16);
KV_MATRIX(f32_4x4x2bf16, __kv_i16x2, __kv_f32x4);
KV_MATRIX(f32_32x32x4bf16, __kv_i16x2, __kv_f32x16);
KV_MATRIX(f32_16x16x8bf16, __kv_i16x2, __kv_f32x4);
KV_MATRIX(f32_32x32x4bf16_1k, __kv_i16x4, __kv_f32x32);
KV_MATRIX(f32_16x16x4bf16_1k, __kv_i16x4, __kv_f32x16);
KV_MATRIX(f32_4x4x4bf16_1k, __kv_i16x4, __kv_f32x4);
KV_MATRIX(f32_32x32x8bf16_1k, __kv_i16x4, __kv_f32x16);
KV_MATRIX(f32_16x16x16bf16_1k, __kv_i16x4, __kv_f32x4);
KV_MATRIX(f32_32x32x16_f16, __kv_f16x8, __kv_f32x16);
KV_MATRIX(f32_16x16x32_f16, __kv_f16x8, __kv_f32x4);
KV_MATRIX(f32_32x32x16_bf16, __kv_bf16x8, __kv_f32x16);
KV_MATRIX(f32_16x16x32_bf16, __kv_bf16x8, __kv_f32x4);
KV_MATRIX(f64_16x16x4f64, double, __kv_f64x4);
KV_MATRIX(f64_4x4x4f64, double, double);
KV_MATRIX(i32_32x32x4i8, int, __kv_i32x32);
KV_MATRIX(i32_16x16x4i8, int, __kv_i32x16);
KV_MATRIX(i32_4x4x4i8, int, __kv_i32x4);
KV_MATRIX(i32_32x32x8i8, int, __kv_i32x16);
KV_MATRIX(i32_16x16x16i8, int, __kv_i32x4);
KV_MATRIX(i32_32x32x16_i8, long, __kv_i32x16);
KV_MATRIX(i32_16x16x32_i8, long, __kv_i32x4);
KV_MATRIX(i32_32x32x32_i8, __kv_i32x4, __kv_i32x16);
KV_MATRIX(i32_16x16x64_i8, __kv_i32x4, __kv_i32x4);

// With a sparse A: an index tells which of four numbers its pairs are; then cbsz and abid.
#define KV_SPARSE(name, a, b, sum) KV(sum, smfmac_##name, a, b, sum, int, int, int)
KV_SPARSE(f32_16x16x32_f16, __kv_f16x4, __kv_f16x8, __kv_f32x4);
KV_SPARSE(f32_32x32x16_f16, __kv_f16x4, __kv_f16x8, __kv_f32x16);
KV_SPARSE(f32_16x16x32_bf16, __kv_i16x4, __kv_i16x8, __kv_f32x4);
KV_SPARSE(f32_32x32x16_bf16, __kv_i16x4, __kv_i16x8, __kv_f32x16);
KV_SPARSE(i32_16x16x64_i8, __kv_i32x2, __kv_i32x4, __kv_i32x4);
KV_SPARSE(i32_32x32x32_i8, __kv_i32x2, __kv_i32x4, __kv_i32x16);
#define KV_EIGHTS(kinds)                                                   \
    KV_MATRIX(f32_16x16x32_##kinds, long, __kv_f32x4);                     \
    KV_MATRIX(f32_32x32x16_##kinds, long, __kv_f32x16);                    \
    KV_SPARSE(f32_16x16x64_##kinds, __kv_i32x2, __kv_i32x4, __kv_f32x4);   \
    KV_SPARSE(f32_32x32x32_##kinds, __kv_i32x2, __kv_i32x4, __kv_f32x16);
KV_EIGHTS(fp8_fp8)
KV_EIGHTS(fp8_bf8)
KV_EIGHTS(bf8_fp8)
KV_EIGHTS(bf8_bf8)
#undef KV_EIGHTS
#undef KV_SPARSE
#undef KV_MATRIX

// With scaled blocks (gfx950): formats of A and B; for each of them the byte of its scale's register, and that.
KV(__kv_f32x4, mfma_scale_f32_16x16x128_f8f6f4, __kv_i32x8, __kv_i32x8, __kv_f32x4, int, int, int, int, int, int);
KV(__kv_f32x16, mfma_scale_f32_32x32x64_f8f6f4, __kv_i32x8, __kv_i32x8, __kv_f32x16, int, int, int, int, int, int);
#undef KV_VECTOR
#undef KV_PURE
#undef KV
#undef KV_SPACE
#undef KV_BUILTIN
