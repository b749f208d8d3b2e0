package dev.doorbell.experiments.fuzz;

import com.sun.management.ThreadMXBean;
import dev.doorbell.experiments.fuzz.growth.Steps;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints the work of readers for inputs of two sizes: a line for each, of the target, a description
 * of the input, and the ratios of steps and of allocated bytes in hundredths.
 */
final class Growth {
  private static final int SMALL = Integer.getInteger("doorbell.growth.bytes", 1 << 12);

  /** Work that any input may cost. */
  private static final long FREE_STEPS = 100_000;

  private static final long FREE_BYTES = 1 << 20;

  private static final List<byte[]> PIECES =
      Mutator.bytes(
          " ", "\n", "a", "9", "[", "(", "{", "\"", "- ", "a: ", "a,", "0a  ", "a: 1\n", "x y\n");

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Growth() {}

  /**
   * Entry point.
   *
   * @param names of the targets
   * @throws Exception when a reader fails
   */
  public static void main(String[] names) throws Exception {
    for (String name : names) {
      try (FuzzTarget.Session session = Targets.named(name).opener().open()) {
        List<byte[]> pieces = new ArrayList<>(PIECES);
        session.dictionary().stream()
            .filter(each -> each.length > 0)
            .limit(Targets.named(name).isSlow() ? 2 : 8)
            .forEach(pieces::add);
        byte[] seed = session.seeds().getFirst();
        measure(name, session, new byte[0], seed);
        for (byte[] piece : pieces) {
          measure(name, session, new byte[0], piece);
          measure(name, session, seed, piece);
        }
      }
    }
  }

  private static void measure(String name, FuzzTarget.Session session, byte[] around, byte[] piece)
      throws Exception {
    byte[] small = input(around, piece, SMALL);
    session.read(small.clone());
    long[] less = work(session, small);
    long[] more = work(session, input(around, piece, 2 * SMALL));
    System.out.printf(
        "growth\t%s\t%s%s\t%d\t%d%n",
        name,
        around.length == 0 ? "" : "in a seed: ",
        shown(piece),
        100 * more[0] / (less[0] + FREE_STEPS),
        100 * more[1] / (less[1] + FREE_BYTES));
  }

  private static String shown(byte[] piece) {
    String text = new String(piece, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "?");
    return text.length() > 20 ? text.substring(0, 20) + "..." : text;
  }

  private static long[] work(FuzzTarget.Session session, byte[] input) throws Exception {
    byte[] own = input.clone();
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    long steps = Steps.count();
    session.read(own);
    return new long[] {Steps.count() - steps, THREADS.getCurrentThreadAllocatedBytes() - bytes};
  }

  /** Repeats a piece in the middle of other bytes. */
  private static byte[] input(byte[] around, byte[] piece, int bytes) {
    ByteArrayOutputStream input = new ByteArrayOutputStream();
    input.write(around, 0, around.length / 2);
    int end = input.size() + bytes;
    while (input.size() < end) {
      input.writeBytes(piece);
    }
    input.write(around, around.length / 2, around.length - around.length / 2);
    return input.toByteArray();
  }
}
