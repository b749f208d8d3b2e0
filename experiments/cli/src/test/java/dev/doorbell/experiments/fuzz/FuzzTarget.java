package dev.doorbell.experiments.fuzz;

import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A reader of a file format or of a protocol that hostile inputs are fed to.
 *
 * @param name unique, such as {@code journal}
 * @param what it reads, in words
 * @param isSlow true for a reader that takes several milliseconds: large campaigns give it a fifth
 * @param opener opens a session; called once for each thread that feeds inputs
 */
public record FuzzTarget(String name, String what, boolean isSlow, Opener opener) {
  /** A target that is not slow. */
  public FuzzTarget(String name, String what, Opener opener) {
    this(name, what, false, opener);
  }

  /** Returns this target as one whose reader takes several milliseconds. */
  public FuzzTarget slow() {
    return new FuzzTarget(name, what, true, opener);
  }

  /** What a reader made of one input. */
  public enum Outcome {
    /** The input was read. */
    ACCEPTED,
    /** The input was refused with a problem that a user can act on. */
    REFUSED,
    /** Memory changed that the input has no right to. */
    MEMORY_CHANGED
  }

  /** Opens a session. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Sets up the reader.
     *
     * @throws Exception when the reader cannot be set up, which fails the campaign
     */
    Session open() throws Exception;
  }

  /** A reader that takes one input after another. One thread uses it. */
  public interface Session extends AutoCloseable {
    /** Returns well-formed inputs, which mutations start from; at least one. */
    List<byte[]> seeds();

    /** Returns pieces of text or bytes that mean something to the reader. */
    default List<byte[]> dictionary() {
      return List.of();
    }

    /** Returns an input; a mutation of a seed unless the target generates its own. */
    default byte[] generate(RandomGenerator random, Mutator mutator) {
      return mutator.mutate(random);
    }

    /**
     * Reads one input. Whatever it throws counts as a crash of the reader.
     *
     * @throws Exception when the reader fails with anything but a clear problem
     */
    Outcome read(byte[] input) throws Exception;

    @Override
    default void close() {}
  }

  /** Reads one input; what it throws counts as a crash. */
  @FunctionalInterface
  public interface Reader {
    Outcome read(byte[] input) throws Exception;
  }

  /** Makes one input. */
  @FunctionalInterface
  public interface Generator {
    byte[] generate(RandomGenerator random, Mutator mutator);
  }

  /** Returns a target whose reader keeps no state between inputs. */
  public static FuzzTarget of(
      String name, String what, Supplier<List<byte[]>> seeds, List<byte[]> words, Reader reader) {
    return of(name, what, seeds, words, (random, mutator) -> mutator.mutate(random), reader);
  }

  /** Returns such a target whose inputs {@code generator} makes. */
  public static FuzzTarget of(
      String name,
      String what,
      Supplier<List<byte[]>> seeds,
      List<byte[]> words,
      Generator generator,
      Reader reader) {
    return new FuzzTarget(
        name,
        what,
        () -> {
          List<byte[]> wellFormed = seeds.get();
          return new Session() {
            @Override
            public List<byte[]> seeds() {
              return wellFormed;
            }

            @Override
            public List<byte[]> dictionary() {
              return words;
            }

            @Override
            public byte[] generate(RandomGenerator random, Mutator mutator) {
              return generator.generate(random, mutator);
            }

            @Override
            public Outcome read(byte[] input) throws Exception {
              return reader.read(input);
            }
          };
        });
  }
}
