package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUjit_option;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** PTX, compiled by the driver and loaded. */
final class CudaModule implements GpuModule {
  private static final int LOG_BYTES = 16 << 10;

  private final Consumer<GpuModule> onClose;
  private final Locus locus;
  private final CudaContext context;
  private final String name;
  private final PtxOutline outline;
  private final CUmodule module = new CUmodule();
  private final Map<String, CudaKernel> kernels = new LinkedHashMap<>();
  private boolean closed;

  private CudaModule(
      Consumer<GpuModule> onClose, Locus locus, CudaContext context, String name, String ptx) {
    this.onClose = onClose;
    this.locus = locus;
    this.context = context;
    this.name = name;
    compile(ptx);
    this.outline = PtxOutline.of(ptx);
  }

  /**
   * @param onClose called before the module is unloaded; it may refuse
   */
  static CudaModule load(
      Consumer<GpuModule> onClose, Locus locus, CudaContext context, String name, String ptx) {
    CudaModule module = new CudaModule(onClose, locus, context, name, ptx);
    try {
      module.resolve();
    } catch (RuntimeException e) {
      module.release();
      throw e;
    }
    return module;
  }

  private void compile(String ptx) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocateFrom(ptx);
      MemorySegment log = arena.allocate(LOG_BYTES);
      int[] options = {
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER, CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
      };
      // Values of options are pointers, or numbers passed as pointers.
      Pointer values = Pointer.to(CudaContext.host(log.address()), CudaContext.host(LOG_BYTES));
      int code =
          context.ask(
              () ->
                  JCudaDriver.cuModuleLoadDataEx(
                      module, CudaContext.host(image.address()), options.length, options, values));
      if (code != CudaErrors.SUCCESS) {
        String says = log.getString(0).strip();
        GpuException error = context.failed(name + " cannot be loaded", code);
        throw says.isEmpty() ? error : new GpuException(error.getMessage() + "\n" + says);
      }
    }
  }

  /**
   * Resolves every function now: a driver with lazy loading would do so at the first launch and
   * wait for running kernels, so that two kernels that wait for each other would never end.
   */
  private void resolve() {
    for (PtxOutline.Entry entry : outline.entries()) {
      CUfunction function = new CUfunction();
      context.call(
          "finding kernel %s of %s".formatted(entry.name(), name),
          () -> JCudaDriver.cuModuleGetFunction(function, module, entry.name()));
      int[] shared = new int[1];
      context.call(
          "querying the shared memory of kernel " + entry.name(),
          () ->
              JCudaDriver.cuFuncGetAttribute(
                  shared, CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
      kernels.put(entry.name(), new CudaKernel(this, entry, function, shared[0]));
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<String> entries() {
    return List.copyOf(kernels.keySet());
  }

  @Override
  public Kernel kernel(String entry) {
    CudaKernel kernel = kernels.get(entry);
    if (kernel == null) {
      throw new GpuException(
          "%s has no entry '%s'; it has %s"
              .formatted(name, entry, String.join(", ", kernels.keySet())));
    }
    return kernel;
  }

  @Override
  public Memory global(String variable) {
    if (!outline.variables().contains(variable)) {
      throw new GpuException(
          "%s has no variable '%s'; it has %s"
              .formatted(name, variable, String.join(", ", outline.variables())));
    }
    CudaContext.Address address = new CudaContext.Address();
    long[] bytes = new long[1];
    context.call(
        "finding variable %s of %s".formatted(variable, name),
        () -> JCudaDriver.cuModuleGetGlobal(address, bytes, module, variable));
    return new CudaMemory(
        context,
        MemoryKind.DEVICE,
        locus,
        variable,
        address.value(),
        CudaMemory.NOT_MAPPED,
        bytes[0],
        memory -> {});
  }

  @Override
  public void close() {
    if (!closed) {
      onClose.accept(this);
      release();
    }
  }

  /** Unloads without checks; in a broken context there is nothing to unload. */
  void release() {
    if (!closed) {
      closed = true;
      int code = context.ask(() -> JCudaDriver.cuModuleUnload(module));
      if (code != CudaErrors.SUCCESS && !CudaErrors.isFatal(code)) {
        throw context.failed("unloading " + name, code);
      }
    }
  }

  static final class CudaKernel implements Kernel {
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
}
