package dev.doorbell.experiments.cli.command;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The second compiler of the JVM, for work that is long enough. Code for it is compiled twice and
 * counts what it does; below some 25 s of CPU that is a third more than it saves. A JVM that has
 * begun without it cannot add it, so this process becomes another JVM, before it has done anything.
 *
 * <p>The launcher begins without it, and says for how much work: -Ddoorbell.second.compiler=SECONDS
 */
public final class SecondCompiler {
  private static final String PROPERTY = "doorbell.second.compiler";
  private static final String FIRST_ALONE = "-XX:TieredStopAtLevel=1";
  private static final Path PROCESS = Path.of("/proc/self");
  private static final AddressLayout ADDRESS = ValueLayout.ADDRESS;

  private SecondCompiler() {}

  /**
   * Begins this command anew with both compilers, in the same process, where its work is long
   * enough; returns where it is not, where the JVM has both, or where the system does not allow it.
   * Nothing may have been printed, and no file be half written.
   *
   * @param nanos what the work takes one core
   */
  public static void demandFor(long nanos) {
    Double least = Double.valueOf(System.getProperty(PROPERTY, "Infinity"));
    if (nanos < least * 1e9) {
      return;
    }
    try {
      List<String> words = new ArrayList<>();
      String line = Files.readString(PROCESS.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      for (String word : line.split("\0", -1)) {
        words.add(word);
      }
      words.removeLast(); // behind the last end
      words.remove(FIRST_ALONE); // the launcher's; the user's own stays
      words.removeIf(word -> word.startsWith("-D" + PROPERTY + "="));
      become(PROCESS.resolve("exe").toRealPath().toString(), words);
    } catch (IOException _) {
      // The first compiler alone is slower, and right.
    }
  }

  /** Returns only if the system refuses, and says nothing. Bytes of words are chars below 256. */
  @SuppressWarnings("restricted")
  private static void become(String program, List<String> words) {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle exec =
          Linker.nativeLinker()
              .downcallHandle(
                  Linker.nativeLinker().defaultLookup().findOrThrow("execv"),
                  FunctionDescriptor.of(ValueLayout.JAVA_INT, ADDRESS, ADDRESS));
      MemorySegment array = arena.allocate(ADDRESS, words.size() + 1L);
      for (int i = 0; i < words.size(); i++) {
        array.setAtIndex(ADDRESS, i, arena.allocateFrom(words.get(i), StandardCharsets.ISO_8859_1));
      }
      array.setAtIndex(ADDRESS, words.size(), MemorySegment.NULL);
      int ignored = (int) exec.invokeExact(arena.allocateFrom(program), array);
    } catch (Throwable e) {
      throw new IllegalStateException("execv", e);
    }
  }
}
