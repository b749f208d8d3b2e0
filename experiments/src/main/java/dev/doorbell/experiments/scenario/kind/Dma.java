package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.cuda.CudaGpu;

/** How a software HCA reaches the memory of a real GPU: the values of {@code dma}. */
public enum Dma {
  COPY(CudaGpu.Mover.COPY, "the GPU's copy engines"),
  KERNEL(CudaGpu.Mover.KERNEL, "a kernel on one multiprocessor");

  private final CudaGpu.Mover mover;
  private final String means;

  Dma(CudaGpu.Mover mover, String means) {
    this.mover = mover;
    this.means = means;
  }

  /**
   * The mover of a point's GPUs, which a real GPU's result notes.
   *
   * @param needed whether the HCA has to reach GPU memory at all
   */
  public CudaGpu.Mover mover(PointRun<?> run, boolean needed) {
    if (!needed) {
      return CudaGpu.Mover.NONE;
    }
    if (run.onGpu()) {
      run.note("the software HCA reaches GPU memory by " + means);
    }
    return mover;
  }
}
