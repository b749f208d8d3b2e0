package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.lang.invoke.MethodHandles;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code st}. A store may be narrower than its register: the low bytes. */
public abstract class Store extends MemoryOp {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  public int value;

  public static Op make(Instruction given, Assembler a) throws Unsupported {
    Instruction i = halved(given);
    ScalarType type = Assembler.type(i);
    int vector = i.has("v2") ? 2 : i.has("v4") ? 4 : 1;
    if (i.has("async")) {
      return Sequence.asynchronous(i, Store::make, a);
    }
    if (Sequence.isWide(i)) {
      return Sequence.halves(i, 0, Store::make, a);
    }
    if (type.bytes() * vector > 16 || i.has("v8")) {
      throw Unsupported.malformed("no access has this many bytes");
    }
    if (vector > 1) {
      return vector(i, a, type, vector);
    }
    Class<? extends Store> template = Global.class;
    Space space = Space.of(i);
    if (space != Space.GLOBAL) {
      template = space == Space.GENERIC ? Generic.class : Window.class;
    }
    Store store = Specialiser.make(LOOKUP, template, Store.class, space + "." + type.bytes());
    store.locate(i, i.operands().getFirst(), a);
    if (store.space.isWindow() != space.isWindow()) {
      store = Specialiser.make(LOOKUP, Window.class, Store.class, store.space + "." + type.bytes());
      store.locate(i, i.operands().getFirst(), a);
    }
    store.bytes = type.bytes();
    store.access = access(i, Access.WEAK);
    store.value = a.source(i.operands().get(1), type);
    return store;
  }

  private static Op vector(Instruction i, Assembler a, ScalarType type, int vector)
      throws Unsupported {
    VectorStore store = new VectorStore();
    store.locate(i, i.operands().getFirst(), a);
    store.bytes = type.bytes() * vector;
    store.access = access(i, Access.WEAK);
    store.elementBits = type.bits();
    if (!(i.operands().get(1) instanceof Operand.Vector(List<Operand> elements))
        || elements.size() != vector) {
      throw Unsupported.malformed("%d registers in braces are needed".formatted(vector));
    }
    store.from = new int[vector];
    for (int e = 0; e < vector; e++) {
      store.from[e] = a.source(elements.get(e), type);
    }
    return store;
  }

  /** Through the port, whatever the space. */
  final @Nullable Op ported(VmThread t, long[] r, long address) {
    if ((address & (bytes - 1)) != 0) {
      throw t.misaligned("store", address, bytes);
    }
    t.account();
    ThreadPort port = t.port;
    switch (bytes) {
      case 1 -> port.store8(address, r[value], access);
      case 2 -> port.store16(address, r[value], access);
      case 4 -> port.store32(address, r[value], access);
      default -> port.store64(address, r[value], access);
    }
    if (port.parked) {
      return t.park(this);
    }
    t.polling.acted();
    return next;
  }

  /** {@code st.global}. */
  static final class Global extends Store {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return ported(t, r, r[base] + offset);
    }
  }

  /** {@code st} without a space. */
  static final class Generic extends Store {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long address = r[base] + offset;
      if (!t.isScratch(address)) {
        return ported(t, r, address);
      }
      t.checkScratch("store", address, bytes);
      t.polling.acted();
      RawMemory.put(address, bytes, r[value]);
      return next;
    }
  }

  /** {@code st.shared}, {@code .local}, {@code .param}. */
  static final class Window extends Store {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long at = r[base] + offset;
      if (space == Space.FRAME) {
        at += t.frame;
      } else if (space == Space.SHARED) {
        if (t.portedShared) {
          return ported(t, r, window(t, "store", at));
        }
        t.polling.acted();
      }
      RawMemory.put(window(t, "store", at), bytes, r[value]);
      return next;
    }
  }

  /** Vectors, in any space: one access of 4, 8 or 16 bytes, never split into elements. */
  public static final class VectorStore extends MemoryOp {
    public int[] from = new int[0];
    public int elementBits;

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long address = r[base] + offset;
      long low = gather(r, 0);
      long high = bytes == 16 ? gather(r, from.length / 2) : 0;
      boolean ported = space == Space.SHARED && t.portedShared;
      if (ported) {
        address = window(t, "store", address);
      }
      if (space.isWindow() && !ported) {
        if (space == Space.SHARED) {
          t.polling.acted();
        }
        raw(window(t, "store", space == Space.FRAME ? address + t.frame : address), low, high);
        return next;
      }
      if (space == Space.GENERIC && t.isScratch(address)) {
        t.checkScratch("store", address, bytes);
        t.polling.acted();
        raw(address, low, high);
        return next;
      }
      t.checkAligned("store", address, bytes);
      t.account();
      ThreadPort port = t.port;
      store(port, address, bytes, low, high, access);
      if (port.parked) {
        return t.park(this);
      }
      t.polling.acted();
      return next;
    }

    /** The slots of the address and of the elements. */
    public int[] sources() {
      int[] sources = Arrays.copyOf(from, from.length + 1);
      sources[from.length] = base;
      return sources;
    }

    private void raw(long at, long low, long high) {
      RawMemory.put(at, Math.min(bytes, 8), low);
      if (bytes == 16) {
        RawMemory.put(at + 8, 8, high);
      }
    }

    /** Up to 8 bytes of elements from {@code first} on. */
    private long gather(long[] r, int first) {
      if (elementBits == 64) {
        return r[from[first]];
      }
      if (elementBits == 32) {
        return (r[from[first]] & 0xffff_ffffL) | r[from[first + 1]] << 32;
      }
      int count = Math.min(from.length - first, 64 / elementBits);
      long value = 0;
      for (int e = count - 1; e >= 0; e--) {
        value = value << elementBits | element(r[from[first + e]]);
      }
      return value;
    }

    private long element(long value) {
      int drop = 64 - elementBits;
      return value << drop >>> drop;
    }
  }
}
