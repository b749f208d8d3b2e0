package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.Rmw;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An instruction of a litmus test. Accesses are {@code Access} bits. */
public sealed interface Instruction {
  /** Returns its place and under which predicate. */
  Site site();

  /**
   * A place in a file.
   *
   * @param line of the file, from 1
   * @param text as written, without its guard
   * @param guard the predicate, null when there is none
   */
  record Site(int line, String text, @Nullable Guard guard) {}

  /** {@code @p} or {@code @!p}. */
  record Guard(String predicate, boolean negated) {}

  record Load(Site site, String target, Address address, int access) implements Instruction {}

  record Store(Site site, Address address, Operand value, int access) implements Instruction {}

  /**
   * {@code atom}, and {@code red} when there is no target.
   *
   * @param compare the compare operand of compare-and-swap, null for other operations
   */
  record Atomic(
      Site site,
      @Nullable String target,
      Address address,
      Rmw operation,
      Operand operand,
      @Nullable Operand compare,
      int access)
      implements Instruction {}

  /** {@code fence}, {@code membar}. */
  record Fence(Site site, int access) implements Instruction {}

  /**
   * {@code fence.proxy}.
   *
   * @param proxy the proxy that it orders with the generic one; generic for {@code .alias}, which
   *     orders the addresses of one location
   */
  record ProxyFence(Site site, Proxy proxy) implements Instruction {}

  /** The action of a barrier instruction beside arriving. */
  enum BarrierKind {
    /** Waits. */
    SYNC,
    /** Does not wait. */
    ARRIVE,
    /** Waits, and counts the predicates that are true. */
    RED_POPC,
    /** Waits; true when all predicates are. */
    RED_AND,
    /** Waits; true when any predicate is. */
    RED_OR
  }

  /**
   * {@code bar}, {@code barrier}.
   *
   * @param count how many threads take part; null when not given, then all of the CTA
   * @param target what a reduction yields, else null
   * @param predicate what goes into a reduction, else null
   */
  record Barrier(
      Site site,
      BarrierKind kind,
      Operand id,
      @Nullable Operand count,
      @Nullable String target,
      @Nullable Operand predicate)
      implements Instruction {
    /** A CTA has barriers 0 to 15. */
    public static final int LAST_ID = 15;
  }

  enum Arithmetic {
    MOV,
    ADD,
    SUB,
    AND,
    OR,
    XOR,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE;

    public int apply(int a, int b, boolean signed) {
      int order = signed ? Integer.compare(a, b) : Integer.compareUnsigned(a, b);
      return switch (this) {
        case MOV -> a;
        case ADD -> a + b;
        case SUB -> a - b;
        case AND -> a & b;
        case OR -> a | b;
        case XOR -> a ^ b;
        case EQ -> a == b ? 1 : 0;
        case NE -> a != b ? 1 : 0;
        case LT -> order < 0 ? 1 : 0;
        case LE -> order <= 0 ? 1 : 0;
        case GT -> order > 0 ? 1 : 0;
        case GE -> order >= 0 ? 1 : 0;
      };
    }
  }

  /** {@code mov}, {@code add}, ..., and {@code setp}; a {@code mov} takes {@code a} alone. */
  record Compute(
      Site site, String target, Arithmetic operation, Operand a, Operand b, boolean signed)
      implements Instruction {}

  /** {@code bra}; to the index of an instruction. */
  record Branch(Site site, int target) implements Instruction {}

  /** {@code exit}, {@code ret}. */
  record Exit(Site site) implements Instruction {}

  /**
   * The place that the operand of an access names.
   *
   * @param location the index of the memory
   * @param virtual the index of the generic address; two that differ may name one location
   * @param proxy by which the name reaches it
   */
  record Address(int location, int virtual, Proxy proxy) {}

  sealed interface Operand {
    record Constant(int value) implements Operand {}

    /** A register; 0 until written. */
    record Register(String name) implements Operand {}
  }

  /** The way by which an access reaches memory (PTX ISA, "Proxies"). */
  enum Proxy {
    /** {@code ld}, {@code st}, {@code atom}, {@code red}. */
    GENERIC,
    /** {@code suld}, {@code sust}. */
    SURFACE,
    /** {@code tld}. */
    TEXTURE,
    /** {@code cold}. */
    CONSTANT;

    /** Returns the word as it is written in files. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
