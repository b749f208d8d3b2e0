package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.ptxvm.engine.machine.Grid;
import dev.doorbell.ptxvm.engine.machine.GridContext;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import dev.doorbell.ptxvm.launch.VmModule.VmKernel;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** A kernel that was started, or waits for those before it in its stream. */
final class VmLaunch implements Launch {
  private final VmGpu gpu;
  private final VmKernel kernel;
  private final VmStream stream;
  private final Grid grid;

  VmLaunch(
      VmGpu gpu, VmKernel kernel, LaunchConfig config, byte[] arguments, VmStream stream, long id) {
    this.gpu = gpu;
    this.kernel = kernel;
    this.stream = stream;
    this.grid =
        new Grid(
            kernel.code(),
            gpu.fabric(),
            gpu.locus(),
            config,
            arguments,
            new GridContext.Settings(
                gpu.options().maxResidentBlocks(),
                VmOptions.MULTIPROCESSORS,
                VmOptions.POLL_NANOS,
                gpu.options().compileAfter(),
                gpu.options().progress()),
            gpu.scratch(),
            id,
            this::ended);
    Stepper stepper = gpu.stepper();
    if (stepper != null) {
      grid.stepBy(stepper);
    }
  }

  VmKernel kernel() {
    return kernel;
  }

  @Override
  public String engine() {
    return kernel.code().engine();
  }

  void start() {
    try {
      grid.start();
    } catch (GpuException e) {
      grid.fail(String.valueOf(e.getMessage()));
    }
  }

  private void ended() {
    gpu.ended(this);
    stream.ended(this);
  }

  @Override
  public boolean done() {
    return grid.done();
  }

  @Override
  public void check() {
    boolean done = grid.done();
    String failure = grid.failure();
    if (failure != null) {
      throw new GpuException(failure);
    }
    if (!done) {
      throw new GpuException("kernel %s still runs".formatted(kernel.name()));
    }
  }

  @Override
  public void cancel(String reason) {
    grid.fail(reason);
  }

  @Override
  public boolean stuck() {
    return grid.stuck();
  }

  @Override
  public String output() {
    return grid.output();
  }

  @Override
  public long instructions() {
    return grid.instructions();
  }

  /** Launches in order: the next starts in the step in which the one before ended. */
  static final class VmStream implements GpuStream {
    private final Queue<VmLaunch> queued = new ArrayDeque<>();
    private @Nullable VmLaunch running;
    private boolean closed;

    void add(VmLaunch launch) {
      queued.add(launch);
      if (running == null) {
        startNext();
      }
    }

    private void startNext() {
      running = queued.poll();
      if (running != null) {
        running.start();
      }
    }

    /** {@code launch} is done, or was cancelled before it started. */
    void ended(VmLaunch launch) {
      queued.remove(launch);
      if (running != null && running.equals(launch)) {
        startNext();
      }
    }

    @Override
    public boolean idle() {
      VmLaunch current = running;
      while (current != null && current.done()) {
        current = running;
      }
      return running == null;
    }

    boolean isClosed() {
      return closed;
    }

    /** Cancels what still runs or waits. */
    @Override
    public void close() {
      closed = true;
      for (VmLaunch launch : queued.toArray(new VmLaunch[0])) {
        launch.cancel("its stream was closed");
      }
      if (running != null) {
        running.cancel("its stream was closed");
      }
    }
  }
}
