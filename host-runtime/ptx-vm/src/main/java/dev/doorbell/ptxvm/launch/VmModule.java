package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkedKernel;
import dev.doorbell.ptxvm.engine.machine.KernelCode;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.memory.Layout;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** Loaded PTX: its variables have memory, its kernels are built. */
final class VmModule implements GpuModule {
  private final VmGpu gpu;
  private final ParsedPtx parsed;
  private final PtxModule ptx;
  private final List<String> entries;
  private final ModuleMemory memory;

  /** Those that were asked for. */
  private final Map<String, VmKernel> kernels = new HashMap<>();

  private boolean closed;

  private VmModule(VmGpu gpu, ParsedPtx parsed, ModuleMemory memory) {
    this.gpu = gpu;
    this.parsed = parsed;
    this.ptx = parsed.module();
    this.entries =
        ptx.functions().values().stream()
            .filter(function -> function.entry() && function.defined())
            .map(Function::name)
            .toList();
    this.memory = memory;
  }

  static VmModule load(VmGpu gpu, String name, String text) {
    ParsedPtx parsed = ParsedPtx.of(name, text);
    PtxModule ptx = parsed.module();
    String tooNew = PtxCheck.needsMore(ptx, gpu.options().computeCapability());
    if (tooNew != null) {
      throw new GpuException(ptx.name() + " " + tooNew);
    }
    if (!parsed.refusals().isEmpty() && ptx.version().isEmpty()) {
      throw refused(ptx, parsed.refusals());
    }
    ModuleMemory memory;
    try {
      memory = new ModuleMemory(gpu.fabric().memory(), gpu.locus(), ptx);
    } catch (IllegalStateException e) {
      throw new GpuException("%s cannot be loaded: %s".formatted(name, e.getMessage()), e);
    }
    try {
      SortedMap<Integer, Refusal> refusals = parsed.refusals(gpu.linkOptions());
      if (!refusals.isEmpty()) {
        throw refused(ptx, refusals);
      }
      return new VmModule(gpu, parsed, memory);
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  private static GpuException refused(PtxModule ptx, SortedMap<Integer, Refusal> refusals) {
    return new GpuException(Refusal.describe(ptx, new ArrayList<>(refusals.values())));
  }

  @Override
  public String name() {
    return ptx.name();
  }

  @Override
  public List<String> entries() {
    return entries;
  }

  @Override
  public Kernel kernel(String entry) {
    if (!entries.contains(entry)) {
      throw new GpuException(
          "%s has no entry '%s'; it has %s".formatted(name(), entry, String.join(", ", entries)));
    }
    return kernels.computeIfAbsent(
        entry, _ -> new VmKernel(this, Objects.requireNonNull(ptx.functions().get(entry))));
  }

  /** A kernel at the addresses of this module; a copy of its own where a compiler may change it. */
  private KernelCode own(String entry) {
    LinkedKernel kernel =
        KernelCode.mayCompile(gpu.fabric())
            ? parsed.link(entry, gpu.linkOptions())
            : parsed.shared(entry, gpu.linkOptions());
    return kernel.at(memory::address);
  }

  @Override
  public Memory global(String variable) {
    Memory found = memory.variable(variable);
    if (found == null) {
      throw new GpuException(
          "%s has no variable '%s'; it has %s"
              .formatted(name(), variable, String.join(", ", memory.variables())));
    }
    return found;
  }

  @Override
  public void close() {
    if (!closed) {
      gpu.requireIdle(this);
      closed = true;
      memory.close();
      gpu.closed(this);
    }
  }

  /** Closes without asking: the GPU itself is closed. */
  void release() {
    if (!closed) {
      closed = true;
      memory.close();
    }
  }

  /** An entry point, built and ready. */
  static final class VmKernel implements Kernel {
    private final VmModule module;
    private final Function entry;
    private final Layout parameters = new Layout();
    private @Nullable KernelCode code;

    VmKernel(VmModule module, Function entry) {
      this.module = module;
      this.entry = entry;
      parameters.add(entry.parameters());
    }

    /**
     * The kernel's code, linked when it is first needed: libraries ask about kernels by hundreds.
     */
    KernelCode code() {
      KernelCode known = code;
      if (known == null) {
        known = module.own(entry.name());
        code = known;
      }
      return known;
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
      return entry.name();
    }

    @Override
    public int parameterBytes() {
      return (int) parameters.bytes();
    }

    @Override
    public int parameterOffset(int index) {
      return (int) parameters.offset(entry.parameters().get(index));
    }

    @Override
    public int parameterBytes(int index) {
      return (int) entry.parameters().get(index).bytes();
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
