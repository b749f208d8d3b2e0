package dev.doorbell.doctor.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** The variables that NCCL, NVSHMEM and UCX read, from lists taken out of their sources. */
final class VariableNames {
  private static final String UCX = "UCX_";

  /** Endings of variables that scripts and container images set to say where a library lies. */
  private static final List<String> PLACES =
      List.of("_HOME", "_DIR", "_ROOT", "_PATH", "_PREFIX", "_VERSION", "_LIBRARY", "_LIB");

  private final Set<String> nccl = read("nccl.txt");
  private final Set<String> gone = read("nccl-gone.txt");
  private final Set<String> nvshmem = read("nvshmem.txt");
  private final Set<String> ucx = read("ucx.txt");

  private static Set<String> read(String name) {
    try (InputStream in = VariableNames.class.getResourceAsStream(name)) {
      String text =
          new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
      Set<String> words = new TreeSet<>();
      text.lines().filter(line -> !line.isEmpty() && line.charAt(0) != '#').forEach(words::add);
      return words;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether a library reads it, or it only says where one lies. */
  boolean known(String name) {
    return nccl.contains(name)
        || nvshmem.contains(name)
        || (name.startsWith(UCX) && known(name.substring(UCX.length()), 0))
        || PLACES.stream().anyMatch(name::endsWith);
  }

  /** Whether an earlier NCCL read it. */
  boolean gone(String name) {
    return gone.contains(name);
  }

  /** UCX puts names of parts before names of options: {@code RC_MLX5_} before {@code TM_ENABLE}. */
  private boolean known(String rest, int depth) {
    if (ucx.contains(rest)) {
      return true;
    }
    return depth < 3
        && ucx.stream()
            .filter(part -> part.endsWith("_") && rest.startsWith(part))
            .anyMatch(part -> known(rest.substring(part.length()), depth + 1));
  }

  /** Names that somebody may have meant. */
  Collection<String> candidates(String name) {
    if (name.startsWith(UCX)) {
      return ucx.stream().filter(word -> !word.endsWith("_")).map(word -> UCX + word).toList();
    }
    return name.startsWith("NVSHMEM_") ? nvshmem : nccl;
  }
}
