package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.MemoryKind;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** Copies between pinned host memory and the device by its copy engine, timed by events. */
final class CopyEngine {
  private static final double NANOS_A_MILLI = 1e6;

  private final CudaContext context;

  CopyEngine(CudaContext context) {
    this.context = context;
  }

  /**
   * Copies all of one memory to another several times: the copies are queued in one stream and run
   * one after the other.
   *
   * @param from device or pinned host memory
   * @param to the other of the two, at least as long
   * @return nanoseconds from before the first copy to behind the last, by the device's clock
   * @throws GpuException when both lie on one side
   */
  double nanos(CudaMemory from, CudaMemory to, int times) {
    boolean in = from.kind() == MemoryKind.HOST && to.kind() == MemoryKind.DEVICE;
    boolean out = from.kind() == MemoryKind.DEVICE && to.kind() == MemoryKind.HOST;
    if (in == out || from.size() > to.size()) {
      throw new GpuException(
          "no copy from %s to %s: one is device memory, the other pinned, and all has to fit"
              .formatted(from, to));
    }
    String what = "copying %d times from %s to %s".formatted(times, from, to);
    CUstream stream = new CUstream();
    CUevent begin = new CUevent();
    CUevent end = new CUevent();
    context.call(
        what, () -> JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
    try {
      context.call(what, () -> JCudaDriver.cuEventCreate(begin, CUevent_flags.CU_EVENT_DEFAULT));
      context.call(what, () -> JCudaDriver.cuEventCreate(end, CUevent_flags.CU_EVENT_DEFAULT));
      context.call(what, () -> JCudaDriver.cuEventRecord(begin, stream));
      for (int i = 0; i < times; i++) {
        context.call(what, () -> in ? in(from, to, stream) : out(from, to, stream));
      }
      context.call(what, () -> JCudaDriver.cuEventRecord(end, stream));
      context.call(what, () -> JCudaDriver.cuStreamSynchronize(stream));
      float[] millis = new float[1];
      context.call(what, () -> JCudaDriver.cuEventElapsedTime(millis, begin, end));
      return millis[0] * NANOS_A_MILLI;
    } finally {
      // Results are ignored: a failure above is reported, and a handle may not exist.
      context.ask(() -> JCudaDriver.cuEventDestroy(begin));
      context.ask(() -> JCudaDriver.cuEventDestroy(end));
      context.ask(() -> JCudaDriver.cuStreamDestroy(stream));
    }
  }

  private static int in(CudaMemory from, CudaMemory to, CUstream stream) {
    return JCudaDriver.cuMemcpyHtoDAsync(
        CudaContext.at(to.address()), CudaContext.host(from.hostAddress()), from.size(), stream);
  }

  private static int out(CudaMemory from, CudaMemory to, CUstream stream) {
    return JCudaDriver.cuMemcpyDtoHAsync(
        CudaContext.host(to.hostAddress()), CudaContext.at(from.address()), from.size(), stream);
  }
}
