package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.cuda.CudaModule.CudaKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import jcuda.Pointer;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * A kernel on the hardware, between two events.
 *
 * <p>A running kernel cannot be stopped. When it is cancelled or its time is over, it is abandoned:
 * the launch has failed, and the GPU is not usable until the kernel has ended by itself. The driver
 * writes the output of {@code printf} to standard output itself.
 */
final class CudaLaunch implements Launch, CudaContext.AbandonedKernel {
  private static final long QUERY_INTERVAL_NANOS = 10_000;

  private final CudaContext context;
  private final CudaKernel kernel;
  private final CUstream stream;
  private final long timeoutNanos;
  private final CUevent began = new CUevent();
  private final CUevent end = new CUevent();
  private boolean queried;
  private long lastQuery;
  private boolean running;
  private boolean ended;
  private long deadline;
  private @Nullable String failure;

  CudaLaunch(CudaContext context, CudaKernel kernel, CUstream stream, long timeoutNanos) {
    this.context = context;
    this.kernel = kernel;
    this.stream = stream;
    this.timeoutNanos = timeoutNanos;
  }

  /**
   * Puts the kernel into the stream.
   *
   * @param block the parameters as the kernel expects them
   */
  void start(LaunchConfig config, byte[] block) {
    String what = "launching kernel " + kernel.name();
    int flags = CUevent_flags.CU_EVENT_DISABLE_TIMING;
    context.call(what, () -> JCudaDriver.cuEventCreate(began, flags));
    context.call(what, () -> JCudaDriver.cuEventCreate(end, flags));
    context.call(what, () -> JCudaDriver.cuEventRecord(began, stream));
    try (Arena arena = Arena.ofConfined()) {
      // The driver takes a pointer to each parameter, and copies them during the call.
      MemorySegment values = arena.allocate(Math.max(1, block.length), 16);
      MemorySegment.copy(block, 0, values, ValueLayout.JAVA_BYTE, 0, block.length);
      Pointer[] each = new Pointer[kernel.parameters()];
      for (int i = 0; i < each.length; i++) {
        each[i] = CudaContext.host(values.address() + kernel.parameterOffset(i));
      }
      Pointer parameters = Pointer.to(each);
      context.call(what, () -> launch(config, parameters));
    }
    context.call(what, () -> JCudaDriver.cuEventRecord(end, stream));
  }

  private int launch(LaunchConfig config, Pointer parameters) {
    if (config.cooperative()) {
      return JCudaDriver.cuLaunchCooperativeKernel(
          kernel.function(),
          config.gridX(),
          config.gridY(),
          config.gridZ(),
          config.blockX(),
          config.blockY(),
          config.blockZ(),
          config.dynamicSharedBytes(),
          stream,
          parameters);
    }
    return JCudaDriver.cuLaunchKernel(
        kernel.function(),
        config.gridX(),
        config.gridY(),
        config.gridZ(),
        config.blockX(),
        config.blockY(),
        config.blockZ(),
        config.dynamicSharedBytes(),
        stream,
        parameters,
        null);
  }

  @Override
  public String kernelName() {
    return kernel.name();
  }

  boolean isOf(GpuModule module) {
    return kernel.module().equals(module);
  }

  @Override
  public boolean ended() {
    if (!ended) {
      int code = context.query(end);
      if (code == CudaErrors.NOT_READY) {
        return false;
      }
      ended = true;
      if (code != CudaErrors.SUCCESS) {
        GpuException error = context.failed("kernel %s failed".formatted(kernel.name()), code);
        if (failure == null) {
          failure = error.getMessage();
        }
      } else {
        context.ask(() -> JCudaDriver.cuEventDestroy(began));
        context.ask(() -> JCudaDriver.cuEventDestroy(end));
      }
    }
    return true;
  }

  @Override
  public boolean done() {
    if (failure != null || ended) {
      return true;
    }
    // Called in every sweep of the fabric, and a query takes longer than a sweep.
    long now = System.nanoTime();
    if (queried && now - lastQuery < QUERY_INTERVAL_NANOS) {
      return false;
    }
    queried = true;
    lastQuery = now;
    if (ended()) {
      return true;
    }
    if (!running) {
      running = context.query(began) != CudaErrors.NOT_READY;
      deadline = now + timeoutNanos;
    } else if (now - deadline >= 0) {
      abandon(
          String.format(
              Locale.ROOT,
              "it did not end within %.1f ms, and nothing stops it but the end of this process",
              timeoutNanos / 1e6));
    }
    return failure != null;
  }

  private void abandon(String reason) {
    failure = "kernel %s was given up: %s".formatted(kernel.name(), reason);
    context.abandon(this);
  }

  @Override
  public void check() {
    boolean isDone = done();
    if (failure != null) {
      throw new GpuException(failure);
    }
    if (!isDone) {
      throw new GpuException("kernel %s still runs".formatted(kernel.name()));
    }
  }

  @Override
  public void cancel(String reason) {
    if (!done()) {
      abandon(reason);
    }
  }

  @Override
  public String output() {
    return "";
  }

  @Override
  public long instructions() {
    return 0;
  }

  /** A non-blocking stream of the driver, which does not wait for the default stream either. */
  static final class CudaStream implements GpuStream {
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
     * Returns true if the hardware has ended every kernel of this stream, abandoned ones included,
     * or has failed.
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
}
