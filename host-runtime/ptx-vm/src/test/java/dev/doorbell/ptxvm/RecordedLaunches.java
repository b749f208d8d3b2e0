package dev.doorbell.ptxvm;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/**
 * The launches of {@code src/test/cuda/launches.txt}, and what an NVIDIA H200 (driver 580, CUDA
 * 13.0) computed for them from PTX of the same sources, compiled with -O3 for compute_90.
 */
final class RecordedLaunches {
  static final Path SOURCES = Path.of("../ptx-vm/src/test/cuda");

  /** An argument: a buffer, or an integer ({@code buffer} null then). */
  private record Argument(char mark, LaunchInputs.Kind kind, int count, int integer) {
    static Argument of(String text) {
      if (text.startsWith("#")) {
        return new Argument('#', LaunchInputs.Kind.I32, 0, Integer.parseInt(text.substring(1)));
      }
      char mark = "=~+".indexOf(text.charAt(0)) >= 0 ? text.charAt(0) : ' ';
      String[] parts = (mark == ' ' ? text : text.substring(1)).split(":", -1);
      return new Argument(mark, LaunchInputs.Kind.of(parts[0]), Integer.parseInt(parts[1]), 0);
    }

    int bytes() {
      return kind.bytes() * count;
    }
  }

  /** A launch and, for each of its results, the bytes that came out of the H200. */
  record Launch(
      String line,
      String file,
      String entry,
      LaunchConfig config,
      List<Argument> arguments,
      List<byte[]> results) {
    @Override
    public String toString() {
      return line;
    }
  }

  private RecordedLaunches() {}

  static List<Launch> all() {
    List<Launch> launches = new ArrayList<>();
    try (GZIPInputStream recorded =
        new GZIPInputStream(new ByteArrayInputStream(World.bytes("kernels-h200.bin.gz")))) {
      for (String line : Files.readAllLines(SOURCES.resolve("launches.txt"))) {
        if (line.startsWith("#")) {
          continue;
        }
        String[] words = line.split(" ", -1);
        boolean cooperative = words[4].endsWith("c");
        LaunchConfig config =
            LaunchConfig.of(Integer.parseInt(words[2]), Integer.parseInt(words[3]))
                .withSharedBytes(Integer.parseInt(words[4].replace("c", "")));
        List<Argument> arguments = new ArrayList<>();
        List<byte[]> results = new ArrayList<>();
        for (String word : List.of(words).subList(5, words.length)) {
          Argument argument = Argument.of(word);
          arguments.add(argument);
          if ("=~+".indexOf(argument.mark) >= 0) {
            results.add(recorded.readNBytes(argument.bytes()));
          }
        }
        launches.add(
            new Launch(
                line,
                words[0],
                words[1],
                cooperative ? config.asCooperative() : config,
                arguments,
                results));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return launches;
  }

  /** Runs {@code launch} from {@code module}; returns what differs from the recorded results. */
  static List<String> differences(World world, GpuModule module, Launch launch) {
    KernelArguments arguments = new KernelArguments();
    List<Memory> outputs = new ArrayList<>();
    List<Argument> kinds = new ArrayList<>();
    for (Argument argument : launch.arguments) {
      if (argument.mark == '#') {
        arguments.add(argument.integer);
        continue;
      }
      Memory memory = world.device(argument.bytes());
      if (argument.mark == ' ') {
        memory.putBytes(0, LaunchInputs.random(argument.kind, argument.count));
      } else {
        outputs.add(memory);
        kinds.add(argument);
        if (argument.mark == '+') {
          memory.putBytes(0, LaunchInputs.counting(argument.kind, argument.count));
        }
      }
      arguments.add(memory);
    }
    world.run(module, launch.entry, launch.config, arguments).check();
    List<String> differences = new ArrayList<>();
    for (int k = 0; k < outputs.size(); k++) {
      Argument argument = kinds.get(k);
      byte[] here = outputs.get(k).getBytes(0, argument.bytes());
      byte[] there = launch.results.get(k);
      for (int e = 0; e < argument.count; e++) {
        if (!LaunchInputs.alike(argument.kind, here, there, e, argument.mark == '~')) {
          differences.add(
              "%s: result %d, element %d: %s, H200 %s"
                  .formatted(
                      launch.line,
                      k,
                      e,
                      LaunchInputs.show(argument.kind, here, e),
                      LaunchInputs.show(argument.kind, there, e)));
        }
      }
    }
    return differences;
  }

  /** The files that the launches name. */
  static Set<String> files() {
    return Set.of("integers", "floats", "halves", "memory", "warps", "copies", "control");
  }

  static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
