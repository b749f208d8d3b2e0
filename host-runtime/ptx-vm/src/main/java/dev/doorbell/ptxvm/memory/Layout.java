package dev.doorbell.ptxvm.memory;

import dev.doorbell.ptxvm.ir.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Offsets of variables that lie one behind the other in a window: kernel parameters, a function's
 * frame, the shared memory of a block. Each at the next multiple of its alignment, as the CUDA
 * driver lays kernel parameters out.
 */
public final class Layout {
  private final Map<Variable, Long> offsets = new HashMap<>();
  private long bytes;

  public Layout add(List<Variable> variables) {
    for (Variable variable : variables) {
      add(variable);
    }
    return this;
  }

  /** Appends a variable; one that is here already stays where it is. */
  public long add(Variable variable) {
    Long known = offsets.get(variable);
    if (known != null) {
      return known;
    }
    align(variable.align());
    long offset = bytes;
    offsets.put(variable, offset);
    bytes += variable.bytes();
    return offset;
  }

  /** Leaves {@code count} bytes unused. */
  public void skip(long count) {
    bytes += count;
  }

  /** Moves the end up to a multiple of {@code alignment}, a power of two. */
  public void align(int alignment) {
    bytes = (bytes + alignment - 1) & -alignment;
  }

  /** Puts {@code variable} at a given place: all dynamic shared arrays begin at the same one. */
  public void put(Variable variable, long offset) {
    offsets.put(variable, offset);
  }

  public boolean has(Variable variable) {
    return offsets.containsKey(variable);
  }

  public long offset(Variable variable) {
    Long offset = offsets.get(variable);
    if (offset == null) {
      throw new IllegalArgumentException("'" + variable.name() + "' lies elsewhere");
    }
    return offset;
  }

  /** The end of the last variable. */
  public long bytes() {
    return bytes;
  }
}
