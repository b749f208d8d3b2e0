package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.ptxvm.engine.link.KernelLinker;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkOptions;
import dev.doorbell.ptxvm.engine.link.ModuleAnalysis;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Says what of a PTX file the virtual GPU cannot run, without running it. */
public final class PtxCheck {
  /** No file can ask for more; what does is refused as too large. */
  private static final long MOST_BYTES = 1L << 34;

  private PtxCheck() {}

  /**
   * Parts of a file that are not run.
   *
   * @param refusals what loading it would refuse, by line; empty when it can be loaded
   * @param stops instructions that stop the kernel of a thread that gets there, by line
   */
  public record Result(List<Refusal> refusals, List<Refusal> stops) {}

  /** Checks for the GPU of {@link VmOptions#defaults}. */
  public static Result of(PtxParser.Result parsed) {
    return of(parsed, VmOptions.defaults().computeCapability());
  }

  /**
   * Checks for a GPU of a compute capability.
   *
   * @param capability major times ten plus minor
   */
  public static Result of(PtxParser.Result parsed, int capability) {
    TreeMap<Integer, Refusal> refusals = new TreeMap<>();
    TreeMap<Integer, Refusal> stops = new TreeMap<>();
    parsed.refusals().forEach(refusal -> refusals.putIfAbsent(refusal.line(), refusal));
    PtxModule module = parsed.module();
    String tooNew = needsMore(module, capability);
    if (tooNew != null) {
      int line = 1;
      while (line < module.lines().size() && !module.text(line).startsWith(".target")) {
        line++;
      }
      refusals.putIfAbsent(line, new Refusal(line, module.text(line), tooNew));
    }
    if (!module.version().isEmpty()) {
      try (AddressSpace space = AddressSpace.reserve(bytes(module));
          ModuleMemory _ = new ModuleMemory(space, Locus.gpu(0, 0), module)) {
        KernelLinker.check(
            new ModuleAnalysis(module),
            LinkOptions.untimed(VmOptions.STACK_BYTES, false),
            new KernelLinker.Refusals(refusals, stops));
      } catch (IllegalStateException e) {
        refusals.putIfAbsent(1, new Refusal(1, module.text(1), String.valueOf(e.getMessage())));
      }
    }
    return new Result(List.copyOf(refusals.values()), List.copyOf(stops.values()));
  }

  /** Returns why a GPU of a compute capability does not load a module, or null. */
  static @Nullable String needsMore(PtxModule module, int capability) {
    String digits = module.target().replaceAll("[^0-9]", "");
    if (digits.isEmpty() || digits.length() > 4 || Integer.parseInt(digits) <= capability) {
      return null;
    }
    return "is for %s, this GPU has compute capability %d.%d; compile for compute_%d, or ask for a"
            .formatted(module.target(), capability / 10, capability % 10, capability)
        + " newer GPU: DOORBELL_JAVA_OPTS=-Ddoorbell.compute="
        + digits;
  }

  /** Addresses enough for the variables of a module, each on pages of its own. */
  private static long bytes(PtxModule module) {
    long bytes = 1L << 16;
    for (Variable variable : module.variables()) {
      bytes += Math.min(variable.bytes(), MOST_BYTES) + 4L * AddressSpace.PAGE;
    }
    return Math.min(bytes, MOST_BYTES);
  }
}
