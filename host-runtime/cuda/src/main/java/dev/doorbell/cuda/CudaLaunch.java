package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import jcuda.Pointer;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * A kernel on the hardware, between two events.
 *
 * <p>Nothing stops a running kernel. One that is cancelled, or whose time is over, is given up: the
 * launch is done, badly, and the GPU is not usable until the kernel has ended by itself. What
 * {@code printf} of a kernel writes goes to standard output by the driver's own hand.
 */
final class CudaLaunch implements Launch {
  private static final long ASK_EVERY_NANOS = 10_000;

  private final CudaContext context;
  private final CudaKernel kernel;
  private final CudaStream stream;
  private final long timeoutNanos;
  private final CUevent began = new CUevent();
  private final CUevent end = new CUevent();
  private boolean asked;
  private long lastAsked;
  private boolean running;
  private boolean ended;
  private long deadline;
  private @Nullable String failure;

  CudaLaunch(CudaContext context, CudaKernel kernel, CudaStream stream, long timeoutNanos) {
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
    context.call(what, () -> JCudaDriver.cuEventRecord(began, stream.handle()));
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
    context.call(what, () -> JCudaDriver.cuEventRecord(end, stream.handle()));
    stream.add(this);
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
          stream.handle(),
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
        stream.handle(),
        parameters,
        null);
  }

  String kernelName() {
    return kernel.name();
  }

  boolean isOf(CudaModule module) {
    return kernel.cudaModule().equals(module);
  }

  /** True when the hardware is through with it, or broke. */
  boolean ended() {
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
    // Asked in every sweep of the fabric: the driver takes longer to answer than a sweep.
    long now = System.nanoTime();
    if (asked && now - lastAsked < ASK_EVERY_NANOS) {
      return false;
    }
    asked = true;
    lastAsked = now;
    if (ended()) {
      return true;
    }
    if (!running) {
      running = context.query(began) != CudaErrors.NOT_READY;
      deadline = now + timeoutNanos;
    } else if (now - deadline >= 0) {
      giveUp(
          String.format(
              Locale.ROOT,
              "it did not end within %.1f ms, and nothing stops it but the end of this process",
              timeoutNanos / 1e6));
    }
    return failure != null;
  }

  private void giveUp(String reason) {
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
      giveUp(reason);
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
}
