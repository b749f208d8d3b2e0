package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import org.jspecify.annotations.Nullable;

/**
 * Checks what may not happen at the same time: data races, and what amounts to one for a device.
 */
public final class Checks {
  private final Policy policy;
  private final MemoryMachine.Findings findings;

  Checks(Policy policy, MemoryMachine.Findings findings) {
    this.policy = policy;
    this.findings = findings;
  }

  /** A device reads data: all of it has to be there. */
  void checkDmaRead(
      Actor device, Cell cell, long mask, long address, int bytes, @Nullable Object at) {
    long left = mask;
    for (Write write = cell.newest; write != null && left != 0; write = write.before) {
      if ((write.mask & left) != 0 && !device.knows(write)) {
        report(Conflict.Kind.DMA_READ_OF_STORE, address, bytes, write, device, false, 0, at);
      }
      left &= ~write.mask;
    }
  }

  void checkLoad(
      Actor actor, Cell cell, long mask, long address, int bytes, int access, @Nullable Object at) {
    boolean nonCoherent = Access.semantics(access) == Access.NON_COHERENT;
    long left = mask;
    for (Write write = cell.newest; write != null && left != 0; write = write.before) {
      if ((write.mask & left) == 0) {
        continue;
      }
      left &= ~write.mask;
      if (nonCoherent) {
        if (write.actor == actor || !(write.actor.isHost || actor.start.knows(write))) {
          report(Conflict.Kind.NON_COHERENT, address, bytes, write, actor, false, access, at);
        }
      } else if (!actor.knows(write) && !morallyStrong(actor, access, cell, write)) {
        report(Conflict.Kind.LOAD_OF_STORE, address, bytes, write, actor, false, access, at);
      } else if (actor.isHiddenFromProxy(write)) {
        report(Conflict.Kind.PROXY, address, bytes, write, actor, false, access, at);
      }
    }
  }

  void checkStore(
      Actor actor, Cell cell, long mask, long address, int bytes, int access, @Nullable Object at) {
    long left = mask;
    for (Write write = cell.newest; write != null && left != 0; write = write.before) {
      if ((write.mask & left) == 0) {
        continue;
      }
      left &= ~write.mask;
      if (!actor.knows(write) && !morallyStrong(actor, access, cell, write)) {
        Conflict.Kind kind = actor.device ? Conflict.Kind.DMA_WRITE : Conflict.Kind.STORES;
        report(kind, address, bytes, write, actor, true, access, at);
      }
    }
    if (!cell.readers.isEmpty()) {
      cell.readers.unknownTo(
          actor,
          cell.onGpu,
          mask,
          (reader, how, where) -> {
            if (cell.ofBlock && !reader.place.equals(actor.place)) {
              return;
            }
            Conflict.Kind kind =
                reader.device
                    ? Conflict.Kind.STORE_OVER_DMA_READ
                    : actor.device ? Conflict.Kind.DMA_WRITE : Conflict.Kind.STORE_OVER_LOAD;
            findings.found(
                new Conflict(
                    kind,
                    address,
                    bytes,
                    new Conflict.Event(reader, false, how, where),
                    new Conflict.Event(actor, true, access, at),
                    actor.place.scopeWith(reader.place)));
          });
    }
  }

  private void report(
      Conflict.Kind kind,
      long address,
      int bytes,
      Write write,
      Actor actor,
      boolean store,
      int access,
      @Nullable Object at) {
    findings.found(
        new Conflict(
            kind,
            address,
            bytes,
            new Conflict.Event(write.actor, true, write.access, write.at),
            new Conflict.Event(actor, store, access, at),
            actor.place.scopeWith(write.actor.place)));
  }

  boolean morallyStrong(Actor actor, int access, Cell cell, Write write) {
    if (write.actor == actor) {
      return true;
    }
    int needed = needed(actor, cell, write);
    return Semantics.isStrong(access)
        && Semantics.isStrong(write.access)
        && Access.scope(access) >= needed
        && Access.scope(write.access) >= needed;
  }

  /** The scope that a store and an access to the same word must both have. */
  private int needed(Actor actor, Cell cell, Write write) {
    return isResident(cell)
        ? actor.place.residentScopeWith(write.actor.place)
        : actor.place.scopeWith(write.actor.place);
  }

  boolean isResident(Cell cell) {
    return cell.onGpu && policy == Policy.VENDOR;
  }

  /** Meaning of {@link Access} bits to the memory model. */
  static final class Semantics {
    private Semantics() {}

    /** {@code access} with the scope that PTX gives where none is written. */
    static int strong(int access) {
      int semantics = Access.semantics(access);
      boolean system = semantics == Access.VOLATILE || semantics == Access.MMIO;
      return system ? semantics | Access.SYS : access;
    }

    static boolean isStrong(int access) {
      int semantics = Access.semantics(access);
      return semantics != Access.WEAK && semantics != Access.NON_COHERENT;
    }

    /** True for an access that is strong to every agent: a host may load what it stores. */
    static boolean isForSystem(int access) {
      return isStrong(access) && Access.scope(access) == Access.SYS;
    }

    static boolean acquires(int access) {
      int semantics = Access.semantics(access);
      return semantics == Access.ACQUIRE || semantics == Access.ACQ_REL || semantics == Access.SC;
    }

    static boolean releases(int access) {
      int semantics = Access.semantics(access);
      return semantics == Access.RELEASE || semantics == Access.ACQ_REL || semantics == Access.SC;
    }
  }
}
