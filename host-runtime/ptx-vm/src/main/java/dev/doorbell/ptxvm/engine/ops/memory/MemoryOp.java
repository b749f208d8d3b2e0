package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** An access to memory at {@code r[base] + offset}. */
public abstract class MemoryOp extends Op {
  public Space space = Space.GENERIC;
  public int base;
  public long offset;

  /** Bytes of the whole access. */
  public int bytes;

  /** {@link Access} bits. */
  public int access;

  /** True for a load that a fabric can wait on. */
  boolean strong;

  final void locate(Instruction i, Operand operand, Assembler a) throws Unsupported {
    if (!(operand instanceof Operand.Address(Operand to, long by))) {
      throw Unsupported.malformed("an address in brackets is needed");
    }
    space = Space.of(i);
    base = a.base(to);
    offset = by + a.offset(to);
    if (to instanceof Operand.Symbol symbol) {
      if (a.inFrame(symbol.variable())) {
        space = Space.FRAME;
      } else if (a.isKernelParameter(symbol.variable())) {
        space = Space.PARAMETER;
      } else if (space == Space.PARAMETER) {
        throw Unsupported.malformed("'" + symbol.variable().name() + "' is no parameter");
      }
    }
  }

  /** The native address of an access to a window, checked. */
  public final long window(VmThread t, String what, long at) {
    long from;
    long size;
    switch (space) {
      case SHARED -> {
        from = t.sharedBase;
        size = t.sharedSize;
      }
      case PARAMETER -> {
        from = t.parameterBase;
        size = t.parameterSize;
      }
      default -> {
        from = t.localBase;
        size = t.localSize;
      }
    }
    if (at < 0 || at > size - bytes || (at & (bytes - 1)) != 0) {
      throw outside(what, at, size);
    }
    return from + at;
  }

  private Fault outside(String what, long at, long size) {
    String name = space == Space.FRAME ? "local" : space.name().toLowerCase(java.util.Locale.ROOT);
    return (at & (bytes - 1)) != 0
        ? new Fault(
            "misaligned %s of %d bytes at %s offset 0x%x: the offset must be a multiple of %d"
                .formatted(what, bytes, name, at, bytes))
        : new Fault(
            "%s of %d bytes at %s offset 0x%x: the %s memory here has %d bytes"
                .formatted(what, bytes, name, at, name, size));
  }

  /** Loads up to 16 bytes through a port; the upper 8 go to {@link ThreadPort#high}. */
  public static long load(ThreadPort port, long address, int bytes, int access) {
    return switch (bytes) {
      case 1 -> port.load8(address, access);
      case 2 -> port.load16(address, access);
      case 4 -> port.load32(address, access);
      case 8 -> port.load64(address, access);
      default -> port.load128(address, access);
    };
  }

  /** Stores up to 16 bytes through a port. */
  public static void store(
      ThreadPort port, long address, int bytes, long low, long high, int access) {
    switch (bytes) {
      case 1 -> port.store8(address, low, access);
      case 2 -> port.store16(address, low, access);
      case 4 -> port.store32(address, low, access);
      case 8 -> port.store64(address, low, access);
      default -> port.store128(address, low, high, access);
    }
  }

  public static boolean isStrong(int access) {
    int semantics = Access.semantics(access);
    return semantics != Access.WEAK && semantics != Access.NON_COHERENT;
  }

  private static final Set<String> IGNORED_HINTS =
      Set.of("ca", "cg", "cs", "cv", "lu", "wb", "wt", "weak", "noftz");

  /**
   * The {@link Access} bits of the modifiers.
   *
   * @param ifNone what an instruction without a memory order has
   */
  static int access(Instruction i, int ifNone) throws Unsupported {
    int semantics = ifNone;
    int scope = 0;
    for (String modifier : i.modifiers()) {
      switch (modifier) {
        case "relaxed" -> semantics = i.has("mmio") ? Access.MMIO : Access.RELAXED;
        case "acquire" -> semantics = Access.ACQUIRE;
        case "release" -> semantics = Access.RELEASE;
        case "acq_rel" -> semantics = Access.ACQ_REL;
        case "sc" -> semantics = Access.SC;
        case "volatile" -> {
          semantics = Access.VOLATILE;
          scope = Access.SYS;
        }
        case "mmio" -> semantics = Access.MMIO;
        case "nc" -> semantics = Access.NON_COHERENT;
        case "cta" -> scope = Access.CTA;
        case "cluster" -> scope = Access.CLUSTER;
        case "gpu", "gl" -> scope = Access.GPU;
        case "sys" -> scope = Access.SYS;
        default -> requireKnown(modifier);
      }
    }
    if (semantics != Access.WEAK && semantics != Access.NON_COHERENT && scope == 0) {
      scope = semantics == Access.MMIO ? Access.SYS : Access.GPU;
    }
    return semantics | scope;
  }

  private static void requireKnown(String modifier) throws Unsupported {
    boolean hint = modifier.startsWith("L1::") || modifier.startsWith("L2::");
    boolean space =
        switch (modifier) {
          case "global",
              "const",
              "shared",
              "shared::cta",
              "shared::cluster",
              "local",
              "param",
              "param::entry",
              "param::func",
              "v2",
              "v4",
              "v8",
              "uni",
              // Fewer accesses than the fence orders here.
              "sync_restrict::shared::cta",
              "sync_restrict::shared::cluster" ->
              true;
          default -> false;
        };
    if (!hint && !space && !IGNORED_HINTS.contains(modifier) && ScalarType.of(modifier) == null) {
      throw new Unsupported("modifier ." + modifier + " is not supported");
    }
  }

  /** A register of 128 bits is a vector of two of 64, so an access of {@code .b128} is, too. */
  static Instruction halved(Instruction i) {
    if (!i.has("b128")) {
      return i;
    }
    List<String> modifiers = new ArrayList<>(i.modifiers());
    modifiers.remove("b128");
    modifiers.add("v2");
    modifiers.add("b64");
    return i.with(modifiers, i.operands());
  }
}
