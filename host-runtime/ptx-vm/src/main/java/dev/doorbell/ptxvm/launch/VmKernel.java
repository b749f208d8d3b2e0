package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.ptxvm.engine.machine.KernelCode;

/** An entry point, built and ready. */
final class VmKernel implements Kernel {
  private final VmModule module;
  private final KernelCode code;

  VmKernel(VmModule module, KernelCode code) {
    this.module = module;
    this.code = code;
  }

  KernelCode code() {
    return code;
  }

  VmModule vmModule() {
    return module;
  }

  @Override
  public GpuModule module() {
    return module;
  }

  @Override
  public String name() {
    return code.image().name();
  }

  @Override
  public int parameterBytes() {
    return (int) code.image().parameters().bytes();
  }

  @Override
  public int parameterOffset(int index) {
    return (int) code.image().parameters().offset(code.image().parameterList().get(index));
  }

  @Override
  public int parameterBytes(int index) {
    return (int) code.image().parameterList().get(index).bytes();
  }

  @Override
  public int parameters() {
    return code.image().parameterList().size();
  }

  @Override
  public String toString() {
    return module.name() + ":" + name();
  }
}
