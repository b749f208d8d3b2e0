package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Polling;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code ld}. A load may be narrower than its register: zero- or sign-extended by its type. */
public abstract class Load extends LoadOp {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  public int d;

  /** Sign extension: shift left and back; 0 for none. */
  public int extend;

  /** The bits that the register keeps. */
  public long mask;

  public static Op make(Instruction given, Assembler a) throws Unsupported {
    Instruction i = halved(given);
    ScalarType type = Assembler.type(i);
    Operand to = i.operands().getFirst();
    int vector = i.has("v2") ? 2 : i.has("v4") ? 4 : 1;
    int bytes = type.bytes() * vector;
    if (Sequence.isWide(i)) {
      return Sequence.halves(i, 1, Load::make, a);
    }
    if (bytes > 16 || i.has("v8")) {
      throw Unsupported.malformed("no access has this many bytes");
    }
    if (vector > 1) {
      return vector(i, a, type, vector);
    }
    Class<? extends Load> template = Global.class;
    Space space = Space.of(i);
    if (space != Space.GLOBAL) {
      template = space == Space.GENERIC ? Generic.class : Window.class;
    }
    Load load = Specialiser.make(LOOKUP, template, Load.class, space + "." + type.bytes());
    load.locate(i, i.operands().get(1), a);
    if (load.space.isWindow() != space.isWindow()) {
      load = Specialiser.make(LOOKUP, Window.class, Load.class, load.space + "." + type.bytes());
      load.locate(i, i.operands().get(1), a);
    }
    load.bytes = bytes;
    load.access = access(i, Access.WEAK);
    load.strong = isStrong(load.access);
    load.d = a.result(to);
    load.results = new int[] {load.d};
    load.extend = type.signed() ? 64 - type.bits() : 0;
    load.mask = a.resultMask(to);
    return load;
  }

  private static Op vector(Instruction i, Assembler a, ScalarType type, int vector)
      throws Unsupported {
    VectorLoad load = new VectorLoad();
    load.locate(i, i.operands().get(1), a);
    load.bytes = type.bytes() * vector;
    load.access = access(i, Access.WEAK);
    load.strong = isStrong(load.access);
    load.elementBits = type.bits();
    load.extend = type.signed() ? 64 - type.bits() : 0;
    if (!(i.operands().getFirst() instanceof Operand.Vector(List<Operand> elements))
        || elements.size() != vector) {
      throw Unsupported.malformed("%d registers in braces are needed".formatted(vector));
    }
    load.results = new int[vector];
    load.masks = new long[vector];
    for (int e = 0; e < vector; e++) {
      load.results[e] = a.result(elements.get(e));
      load.masks[e] = a.resultMask(elements.get(e));
    }
    return load;
  }

  /** Through the port, whatever the space. */
  final @Nullable Op ported(VmThread t, long[] r, long address) {
    if ((address & (bytes - 1)) != 0) {
      throw t.misaligned("load", address, bytes);
    }
    t.account();
    ThreadPort port = t.port;
    long value =
        switch (bytes) {
          case 1 -> port.load8(address, access);
          case 2 -> port.load16(address, access);
          case 4 -> port.load32(address, access);
          default -> port.load64(address, access);
        };
    if (port.parked) {
      return t.park(this);
    }
    arrived(t.polling, r, address, value, 0);
    return next;
  }

  @Override
  public final void arrived(Polling polling, long[] r, long address, long value, long none) {
    polling.loaded(address, value);
    if (strong) {
      polling.loadedStrongly(address, bytes, value);
    }
    r[d] = value << extend >> extend & mask;
  }

  /** {@code ld.global}. */
  static final class Global extends Load {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return ported(t, r, r[base] + offset);
    }
  }

  /** {@code ld} without a space. */
  static final class Generic extends Load {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long address = r[base] + offset;
      if (!t.isScratch(address)) {
        return ported(t, r, address);
      }
      t.checkScratch("load", address, bytes);
      long value = RawMemory.get(address, bytes);
      t.loadedScratch(address, value);
      r[d] = value << extend >> extend & mask;
      return next;
    }
  }

  /** {@code ld.shared}, {@code .local}, {@code .param}. */
  static final class Window extends Load {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long at = r[base] + offset;
      if (space == Space.FRAME) {
        at += t.frame;
      }
      if (space == Space.SHARED && t.portedShared) {
        return ported(t, r, window(t, "load", at));
      }
      long value = RawMemory.get(window(t, "load", at), bytes);
      if (space == Space.SHARED) {
        t.polling.loaded(at, value);
      }
      r[d] = value << extend >> extend & mask;
      return next;
    }
  }

  /** Vectors, in any space: one access of 4, 8 or 16 bytes, never split into elements. */
  public static final class VectorLoad extends LoadOp {
    public long[] masks = new long[0];
    public int elementBits;
    public int extend;

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long address = r[base] + offset;
      long low;
      long high = 0;
      boolean ported = space == Space.SHARED && t.portedShared;
      if (ported) {
        address = window(t, "load", address);
      }
      if (space.isWindow() && !ported) {
        long at = window(t, "load", space == Space.FRAME ? address + t.frame : address);
        low = RawMemory.get(at, Math.min(bytes, 8));
        high = bytes == 16 ? RawMemory.get(at + 8, 8) : 0;
        t.loadedScratch(at, low ^ high);
      } else if (space == Space.GENERIC && t.isScratch(address)) {
        t.checkScratch("load", address, bytes);
        low = RawMemory.get(address, Math.min(bytes, 8));
        high = bytes == 16 ? RawMemory.get(address + 8, 8) : 0;
        t.loadedScratch(address, low ^ high);
      } else {
        t.checkAligned("load", address, bytes);
        t.account();
        ThreadPort port = t.port;
        low = load(port, address, bytes, access);
        if (port.parked) {
          return t.park(this);
        }
        arrived(t.polling, r, address, low, bytes == 16 ? port.high : 0);
        return next;
      }
      spread(r, low, high);
      return next;
    }

    @Override
    public void arrived(Polling polling, long[] r, long address, long low, long high) {
      polling.loaded(address, low ^ high * 31);
      if (strong) {
        polling.loadedStrongly(address, Math.min(bytes, 8), low);
        if (bytes == 16) {
          polling.loadedStrongly(address + 8, 8, high);
        }
      }
      spread(r, low, high);
    }

    private void spread(long[] r, long low, long high) {
      for (int e = 0; e < results.length; e++) {
        int bit = e * elementBits;
        long value = bit < 64 ? low >>> bit : high >>> (bit - 64);
        int drop = 64 - elementBits;
        value = extend != 0 ? value << drop >> drop : value << drop >>> drop;
        r[results[e]] = value & masks[e];
      }
    }
  }
}
