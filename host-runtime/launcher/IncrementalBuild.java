package dev.doorbell.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Brings the jars of the last full build up to date with the sources, without Maven. The launcher
 * {@code doorbell} starts it and lets one run at a time.
 *
 * <p>A full build leaves jars, and a list of the hashes of all files that they were made of. From
 * then on
 *
 * <ol>
 *   <li>the list is compared with the files as they are;
 *   <li>changed sources and those that depend on them are compiled ({@link Recompilation});
 *   <li>the jars concerned are replaced, each by a rename, and the list last.
 * </ol>
 *
 * <p>Changed poms need a full build, and so does an update that was interrupted between the first
 * rename and the last.
 */
public final class IncrementalBuild {
  private final Path dist;
  private final Path inputs;
  private final Path replacing;
  private final Project project;
  private final Compiler compiler;

  private IncrementalBuild(Path home) throws IOException {
    dist = home.resolve("target/dist");
    inputs = dist.resolve("inputs");
    replacing = dist.resolve("replacing");
    project = Project.read(home, dist.resolve("lib"));
    compiler = new Compiler(project.release());
  }

  /**
   * Runs one of
   *
   * <ul>
   *   <li>{@code list HOME FILE}: writes the hashes of all files that a full build reads;
   *   <li>{@code update HOME}: brings the jars up to date;
   *   <li>{@code tests HOME FOLDER SLOW MODULE [CLASS ...]}: does so, compiles tests into an empty
   *       folder and leaves there one file of arguments for {@code java} for each run.
   * </ul>
   */
  public static void main(String[] words) throws IOException {
    try {
      IncrementalBuild build = new IncrementalBuild(Path.of(words[1]));
      switch (words[0]) {
        case "list" -> write(build.hashes(), Path.of(words[2]));
        case "update" -> build.update();
        case "tests" -> {
          TestRuns runs =
              TestRuns.select(build.project, words[4], List.of(words).subList(5, words.length));
          build.update();
          runs.prepare(build.compiler, build.dist, Path.of(words[2]), words[3].equals("slow"));
        }
        default -> throw new Failure(Failure.USAGE, "unknown command " + words[0]);
      }
    } catch (Failure failure) {
      if (failure.code != Failure.NEEDS_FULL_BUILD) {
        System.err.println("doorbell: " + failure.getMessage());
      }
      System.exit(failure.code);
    }
  }

  private void update() throws IOException {
    long started = System.nanoTime();
    if (!Files.exists(inputs) || Files.exists(replacing)) {
      throw new Failure(Failure.NEEDS_FULL_BUILD, "no complete build");
    }
    Map<String, String> before = read(inputs);
    Map<String, String> now = hashes();
    List<Path> changed =
        Stream.concat(before.keySet().stream(), now.keySet().stream())
            .distinct()
            .filter(file -> !before.getOrDefault(file, "").equals(now.getOrDefault(file, "")))
            .map(project.home()::resolve)
            .toList();
    for (Path file : project.plumbing()) {
      if (changed.contains(file)) {
        throw new Failure(Failure.NEEDS_FULL_BUILD, file + " has changed");
      }
    }
    if (changed.isEmpty()) {
      return;
    }
    Map<Project.Module, ModuleJar> jars = new LinkedHashMap<>();
    for (Project.Module module : project.modules()) {
      if (Files.exists(module.jar())) {
        jars.put(module, new ModuleJar(module));
      }
    }
    int compiled =
        new Recompilation(jars, Project.jarsIn(dist.resolve("lib")), compiler).run(changed);
    replace(jars.values());
    Path list = dist.resolve("inputs.new");
    write(now, list);
    Files.move(list, inputs, StandardCopyOption.ATOMIC_MOVE);
    Files.delete(replacing);
    System.err.printf(
        "%d %s compiled in %.1f s%n",
        compiled, compiled == 1 ? "source" : "sources", (System.nanoTime() - started) / 1e9);
  }

  private void replace(Collection<ModuleJar> jars) throws IOException {
    Path work = Files.createDirectories(dist.resolve("update"));
    List<Path> written = new ArrayList<>();
    for (ModuleJar jar : jars) {
      if (jar.isChanged()) {
        written.add(jar.file());
        jar.writeTo(work.resolve(jar.file().getFileName()));
      }
    }
    Files.writeString(replacing, "");
    for (Path file : written) {
      Files.move(work.resolve(file.getFileName()), file, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /**
   * Returns the hash of each file that a full build reads, by its path from the project's folder.
   */
  private Map<String, String> hashes() throws IOException {
    List<Path> files = new ArrayList<>(project.plumbing());
    for (Project.Module module : project.modules()) {
      files.addAll(module.inputs());
    }
    MessageDigest sha256;
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    Map<String, String> hashes = new TreeMap<>();
    for (Path file : files) {
      hashes.put(
          project.home().relativize(file).toString(),
          HexFormat.of().formatHex(sha256.digest(Files.readAllBytes(file))));
    }
    return hashes;
  }

  private static void write(Map<String, String> hashes, Path file) throws IOException {
    Files.write(
        file, hashes.entrySet().stream().map(e -> e.getValue() + " " + e.getKey()).toList());
  }

  private static Map<String, String> read(Path file) throws IOException {
    Map<String, String> hashes = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      int space = line.indexOf(' ');
      hashes.put(line.substring(space + 1), line.substring(0, space));
    }
    return hashes;
  }
}
