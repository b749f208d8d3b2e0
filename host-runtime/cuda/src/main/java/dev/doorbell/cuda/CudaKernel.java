package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import jcuda.driver.CUfunction;

/** A loaded entry point. */
final class CudaKernel implements Kernel {
  private final GpuModule module;
  private final PtxOutline.Entry entry;
  private final CUfunction function;
  private final int sharedBytes;

  CudaKernel(GpuModule module, PtxOutline.Entry entry, CUfunction function, int sharedBytes) {
    this.module = module;
    this.entry = entry;
    this.function = function;
    this.sharedBytes = sharedBytes;
  }

  CUfunction function() {
    return function;
  }

  /** Static shared memory of a block. */
  int sharedBytes() {
    return sharedBytes;
  }

  @Override
  public GpuModule module() {
    return module;
  }

  @Override
  public String name() {
    return entry.name();
  }

  @Override
  public int parameterBytes() {
    return entry.bytes();
  }

  @Override
  public int parameterOffset(int index) {
    return entry.parameters().get(index).offset();
  }

  @Override
  public int parameterBytes(int index) {
    return entry.parameters().get(index).bytes();
  }

  @Override
  public int parameters() {
    return entry.parameters().size();
  }

  @Override
  public String toString() {
    return module.name() + ":" + name();
  }
}
