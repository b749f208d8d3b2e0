package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.ptxvm.engine.machine.Grid;
import dev.doorbell.ptxvm.engine.machine.GridContext;
import dev.doorbell.ptxvm.engine.probe.Instrument;
import dev.doorbell.ptxvm.engine.probe.Probe;

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
                gpu.options().multiprocessors(),
                gpu.options().pollNanos(),
                gpu.options().compileAfter(),
                gpu.options().workers(),
                gpu.options().progress()),
            gpu.scratch(),
            id,
            this::ended);
    Probe probe = gpu.probe();
    if (probe != null) {
      grid.stepBy(new Instrument(probe));
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
}
