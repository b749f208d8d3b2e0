package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/** A non-blocking stream of the driver, which does not wait for the default stream either. */
final class CudaStream implements GpuStream {
  private final CudaContext context;
  private final CUstream stream = new CUstream();
  private final List<CudaLaunch> launches = new ArrayList<>();
  private boolean closed;

  CudaStream(CudaContext context, Priority priority) {
    this.context = context;
    int[] lowest = new int[1];
    int[] highest = new int[1];
    context.call(
        "asking for priorities of streams",
        () -> JCudaDriver.cuCtxGetStreamPriorityRange(lowest, highest));
    context.call(
        "creating a stream",
        () ->
            JCudaDriver.cuStreamCreateWithPriority(
                stream,
                CUstream_flags.CU_STREAM_NON_BLOCKING,
                priority == Priority.HIGHEST ? highest[0] : lowest[0]));
  }

  CUstream handle() {
    return stream;
  }

  boolean isClosed() {
    return closed;
  }

  void add(CudaLaunch launch) {
    launches.removeIf(CudaLaunch::ended);
    launches.add(launch);
  }

  /** The name of a kernel of {@code module} that may still run in this stream, or null. */
  @Nullable String runningKernel(GpuModule module) {
    for (CudaLaunch launch : launches) {
      if (launch.isOf(module) && !launch.ended()) {
        return launch.kernelName();
      }
    }
    return null;
  }

  /**
   * Returns true if the hardware has ended every kernel of this stream, abandoned ones included, or
   * has failed.
   */
  @Override
  public boolean idle() {
    return closed || context.ask(() -> JCudaDriver.cuStreamQuery(stream)) != CudaErrors.NOT_READY;
  }

  /** Abandons running kernels; the driver frees the stream when they have ended. */
  @Override
  public void close() {
    if (!closed) {
      for (CudaLaunch launch : launches) {
        if (!launch.done()) {
          launch.cancel("its stream was closed");
        }
      }
      closed = true;
      int code = context.ask(() -> JCudaDriver.cuStreamDestroy(stream));
      if (code != CudaErrors.SUCCESS && !CudaErrors.isFatal(code)) {
        throw context.failed("closing a stream", code);
      }
    }
  }
}
