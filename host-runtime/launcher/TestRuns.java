package dev.doorbell.launcher;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tests of one module: all of them, or those of some classes.
 *
 * @param methods {@code Class#method}, for tests that were selected one by one
 */
record TestRuns(
    Project project,
    Project.Module module,
    List<Path> classes,
    List<String> methods,
    List<String> options) {
  private static final Pattern TEST_CLASS =
      Pattern.compile("(Test.*|.*(Test|Tests|TestCase))\\.java");

  /**
   * Finds the module and its classes.
   *
   * @param name the module's folder, with or without what stands before its last slash, or its
   *     artifact
   * @param words names of test classes, in which * stands for anything, with {@code #method} after
   *     them or without; and options of the JVM, which begin with a dash
   * @throws Failure with the nearest names if there is no such module or class
   */
  static TestRuns select(Project project, String name, List<String> words) throws IOException {
    String wanted = name.endsWith("/") ? name.substring(0, name.length() - 1) : name;
    Project.Module module =
        project.modules().stream()
            .filter(each -> each.folder().equals(wanted) || each.artifact().equals(wanted))
            .findFirst()
            .or(() -> below(project, wanted, words))
            .orElseThrow(
                () ->
                    unknown(
                        "module",
                        wanted,
                        project.modules().stream().map(Project.Module::artifact)));
    List<Path> classes = new ArrayList<>();
    List<String> methods = new ArrayList<>();
    List<String> options = new ArrayList<>();
    List<Path> all = Project.filesBelow(module.testSources());
    for (String word : words) {
      if (word.startsWith("-")) {
        options.add(word);
        continue;
      }
      String className = word.contains("#") ? word.substring(0, word.indexOf('#')) : word;
      List<Path> found = matching(all, className);
      if (found.isEmpty()) {
        throw noSuchClass(project, module, className, all);
      }
      classes.addAll(found);
      if (word.contains("#")) {
        found.forEach(
            file -> methods.add(classIn(module, file) + word.substring(word.indexOf('#'))));
      }
    }
    if (classes.isEmpty()) {
      all.stream().filter(file -> isTest(file)).forEach(classes::add);
    }
    return new TestRuns(project, module, classes, methods, options);
  }

  /** Finds the module below a folder that has the first class. */
  private static Optional<Project.Module> below(
      Project project, String folder, List<String> words) {
    return words.stream()
        .filter(word -> !word.startsWith("-"))
        .map(word -> word.contains("#") ? word.substring(0, word.indexOf('#')) : word)
        .findFirst()
        .flatMap(
            name ->
                project.modules().stream()
                    .filter(each -> each.folder().startsWith(folder + "/"))
                    .filter(each -> !matching(testsOf(each), name).isEmpty())
                    .findFirst());
  }

  private static List<Path> testsOf(Project.Module module) {
    try {
      return Project.filesBelow(module.testSources());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isTest(Path file) {
    return TEST_CLASS.matcher(file.getFileName().toString()).matches();
  }

  private static List<Path> matching(List<Path> files, String name) {
    String simple = name.substring(name.lastIndexOf('.') + 1);
    Pattern pattern = Pattern.compile(glob(simple) + "\\.java");
    return files.stream()
        .filter(file -> pattern.matcher(file.getFileName().toString()).matches())
        .filter(file -> simple.equals(name) || file.toString().replace('/', '.').contains(name))
        .filter(file -> !name.contains("*") || isTest(file))
        .toList();
  }

  private static Failure noSuchClass(
      Project project, Project.Module module, String name, List<Path> all) throws IOException {
    for (Project.Module other : project.modules()) {
      if (!matching(Project.filesBelow(other.testSources()), name).isEmpty()) {
        return new Failure(
            Failure.USAGE,
            "%s is in another module: ./doorbell test %s %s"
                .formatted(name, other.artifact(), name));
      }
    }
    return unknown(
        "test class in " + module.folder(),
        name,
        all.stream().filter(TestRuns::isTest).map(TestRuns::simpleName));
  }

  private static Failure unknown(String kind, String name, Stream<String> known) {
    String simple = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1);
    List<String> nearest =
        known.sorted(Comparator.comparingInt(each -> distance(each, simple))).limit(3).toList();
    return new Failure(
        Failure.USAGE,
        "no %s is called '%s'; the nearest: %s".formatted(kind, name, String.join(", ", nearest)));
  }

  /**
   * Returns how many letters have to be inserted, removed or replaced; counts half where one
   * contains the other.
   */
  private static int distance(String one, String other) {
    String a = one.toLowerCase(Locale.ROOT);
    String b = other.toLowerCase(Locale.ROOT);
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = 2 * j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = 2 * i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 2);
        diagonal = row[j];
        row[j] = Math.min(replaced, 2 + Math.min(row[j], row[j - 1]));
      }
    }
    return a.contains(b) || b.contains(a) ? row[b.length()] / 2 : row[b.length()];
  }

  private static String simpleName(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.length() - ".java".length());
  }

  private static String classIn(Project.Module module, Path file) {
    String path = module.testSources().relativize(file).toString();
    return path.substring(0, path.length() - ".java".length()).replace('/', '.');
  }

  /**
   * Compiles the classes, with whatever they use, and writes {@code run-N.args} for each run, and
   * the module's folder as {@code module}.
   *
   * @param folder an empty folder
   * @param slow whether tests tagged slow run as well
   */
  void prepare(Compiler compiler, Path dist, Path folder, boolean slow) throws IOException {
    List<Path> classPath = new ArrayList<>(Project.jarsIn(dist.resolve("lib")));
    classPath.addAll(Project.jarsIn(dist.resolve("testlib")));
    List<Path> sourcePath = new ArrayList<>(List.of(module.testSources()));
    project.modules().stream()
        .filter(each -> !Files.exists(each.jar()))
        .map(Project.Module::mainSources)
        .filter(Files::isDirectory)
        .forEach(sourcePath::add);
    // Some modules' tests use those of another one.
    project.modules().stream()
        .filter(each -> each != module)
        .map(Project.Module::testSources)
        .filter(Files::isDirectory)
        .forEach(sourcePath::add);
    // ArchUnit distinguishes tests from the program by this folder, which is Maven's.
    Path compiled = folder.resolve("target/test-classes");
    for (Compiler.Output each : compiler.compile(classes, sourcePath, classPath, Set.of())) {
      Path file = compiled.resolve(each.name() + ".class");
      Files.createDirectories(file.getParent());
      Files.write(file, each.bytes());
    }
    // Some modules' tests use files of another one's.
    for (Project.Module each : project.modules()) {
      Path resources = each.root().resolve("src/test/resources");
      if (each != module && Files.isDirectory(resources)) {
        classPath.add(resources);
      }
    }
    classPath.addFirst(module.root().resolve("src/test/resources"));
    classPath.addFirst(compiled);
    Files.writeString(folder.resolve("module"), module.folder());
    write(folder.resolve("run-1.args"), classPath, List.of(), classes, slow);
    int run = 2;
    for (Project.ExtraRun extra : module.extraRuns()) {
      List<Path> again = classes.stream().filter(file -> extra.includes(simpleName(file))).toList();
      if (!again.isEmpty()) {
        write(
            folder.resolve("run-" + run++ + "-" + extra.name() + ".args"),
            classPath,
            extra.options(),
            again,
            slow);
      }
    }
  }

  private void write(
      Path file, List<Path> classPath, List<String> properties, List<Path> selected, boolean slow)
      throws IOException {
    List<String> words = new ArrayList<>(List.of(project.testOptions().split("\\s+")));
    words.add("-Dbasedir=" + module.root());
    words.add("-Dslf4j.internal.verbosity=ERROR");
    words.addAll(properties);
    words.addAll(options);
    words.add("-cp");
    words.add(
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
    words.addAll(
        List.of(
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--disable-ansi-colors"));
    words.add("--details=" + (classes.size() == 1 ? "tree" : "summary"));
    words.add("--reports-dir=" + file.toString().replace(".args", ""));
    words.add("--config=junit.jupiter.execution.timeout.default=" + project.testMinutes() + " m");
    words.add("--config=junit.jupiter.execution.timeout.mode=disabled_on_debug");
    words.add("--config=junit.jupiter.execution.timeout.threaddump.enabled=true");
    if (!slow) {
      words.add("--exclude-tag=slow");
    }
    for (Path each : selected) {
      words.add("--select-class=" + classIn(module, each));
    }
    if (!methods.isEmpty()) {
      for (Path each : selected) {
        words.add("--include-methodname=" + methodPattern(classIn(module, each)));
      }
    }
    Files.write(
        file,
        words.stream()
            .map(word -> '"' + word.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
            .toList());
  }

  /**
   * Returns a pattern of the qualified names of the class's selected methods; of all its methods if
   * none was named.
   */
  private String methodPattern(String name) {
    String selected =
        methods.stream()
            .filter(method -> method.startsWith(name + "#"))
            .map(method -> glob(method.substring(name.length() + 1)))
            .collect(Collectors.joining("|"));
    return "^" + Pattern.quote(name) + "(\\$.*)?#(" + (selected.isEmpty() ? ".*" : selected) + ")$";
  }

  private static String glob(String text) {
    return Stream.of(text.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
  }
}
