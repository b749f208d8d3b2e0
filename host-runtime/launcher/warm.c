// Adds numbers on an emulated GPU by the driver API, so that the cache of classes and profiles has what a program of
// CUDA loads: see make_cache of the launcher. Its libcuda.so.1 is that of 'doorbell exec'.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

enum { THREADS = 256, BYTES = 4 * THREADS };

static const char PTX[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 from, .param .u64 to, .param .u32 most) {\n"
    ".reg .pred %p<3>; .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [most];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.s32 %p1, %r5, %r1; @%p1 bra done;\n"
    "cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;\n"
    "mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.f32 %f1, [%rd4]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd5], %f2;\n"
    "done: ret;\n}\n";

static void *library;

// Calls a function whose arguments are as wide as registers; ends the program where it is missing or fails.
#define CALL(name, ...)                                              \
  do {                                                               \
    int (*function)() = (int (*)())dlsym(library, name);             \
    if (function == NULL || function(__VA_ARGS__) != 0) return 1;    \
  } while (0)

int main(void) {
  static float numbers[THREADS];
  int device;
  void *context, *module, *add;
  uint64_t from, to;
  int most = THREADS;
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return 1;
  CALL("cuInit", 0);
  CALL("cuDeviceGet", &device, 0);
  CALL("cuDevicePrimaryCtxRetain", &context, device);
  CALL("cuCtxSetCurrent", context);
  CALL("cuModuleLoadData", &module, PTX);
  CALL("cuModuleGetFunction", &add, module, "add");
  CALL("cuMemAlloc_v2", &from, (size_t)BYTES);
  CALL("cuMemAlloc_v2", &to, (size_t)BYTES);
  CALL("cuMemcpyHtoD_v2", from, numbers, (size_t)BYTES);
  void *arguments[] = {&from, &to, &most};
  CALL("cuLaunchKernel", add, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);
  CALL("cuMemcpyDtoH_v2", numbers, to, (size_t)BYTES);
  return 0;
}
