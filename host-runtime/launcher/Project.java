package dev.doorbell.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** The modules that the root pom lists, read from the poms: nothing here repeats what they say. */
record Project(
    Path home, String release, String testOptions, String testMinutes, List<Module> modules) {

  /**
   * A folder of resources and the place of its content in the module's jar; empty: the jar's root.
   */
  record Resources(Path folder, String target) {}

  /**
   * Another run of some of the module's tests with system properties, as its pom configures
   * Surefire.
   *
   * @param includes Surefire's patterns, such as {@code **}{@code /LaunchTest.java}
   */
  record ExtraRun(String name, List<String> options, List<String> includes) {
    boolean includes(String simpleName) {
      return includes.contains("**/" + simpleName + ".java");
    }
  }

  /** One Maven module. */
  record Module(
      String folder,
      String artifact,
      Path root,
      Path mainSources,
      Path jar,
      List<Resources> resources,
      List<ExtraRun> extraRuns) {
    Path testSources() {
      return root.resolve("src/test/java");
    }

    /** Returns the files of which the module's jar consists. */
    List<Path> inputs() throws IOException {
      List<Path> files = new ArrayList<>(filesBelow(mainSources()));
      for (Resources each : resources) {
        files.addAll(filesBelow(each.folder()));
      }
      return files;
    }
  }

  static Project read(Path home, Path lib) throws IOException {
    Element pom = parse(home.resolve("pom.xml"));
    Element properties = child(pom, "properties").orElseThrow();
    List<Module> modules = new ArrayList<>();
    for (Element each : children(child(pom, "modules").orElseThrow(), "module")) {
      String folder = each.getTextContent().strip();
      modules.add(module(folder, home.resolve(folder), lib));
    }
    return new Project(
        home,
        text(properties, "maven.compiler.release"),
        text(properties, "test.argLine"),
        text(properties, "tests.minutes"),
        modules);
  }

  private static Module module(String folder, Path root, Path lib) throws IOException {
    Element pom = parse(root.resolve("pom.xml"));
    String artifact = text(pom, "artifactId");
    String version = text(child(pom, "parent").orElseThrow(), "version");
    List<Resources> resources = new ArrayList<>();
    List<ExtraRun> runs = new ArrayList<>();
    Optional<Element> build = child(pom, "build");
    for (Element each :
        build.flatMap(e -> child(e, "resources")).stream()
            .flatMap(e -> children(e, "resource").stream())
            .toList()) {
      resources.add(
          new Resources(
              root.resolve(text(each, "directory")).normalize(),
              child(each, "targetPath").map(e -> e.getTextContent().strip() + "/").orElse("")));
    }
    if (resources.isEmpty()) {
      resources.add(new Resources(root.resolve("src/main/resources"), ""));
    }
    for (Element plugin :
        build.flatMap(e -> child(e, "plugins")).stream()
            .flatMap(e -> children(e, "plugin").stream())
            .toList()) {
      if (text(plugin, "artifactId").equals("maven-surefire-plugin")) {
        child(plugin, "executions").stream()
            .flatMap(e -> children(e, "execution").stream())
            .forEach(e -> runs.add(extraRun(e)));
      }
    }
    return new Module(
        folder,
        artifact,
        root,
        root.resolve(
            build
                .map(e -> text(e, "sourceDirectory"))
                .filter(e -> !e.isEmpty())
                .orElse("src/main/java")),
        lib.resolve(artifact + "-" + version + ".jar"),
        resources,
        runs);
  }

  private static ExtraRun extraRun(Element execution) {
    Optional<Element> configuration = child(execution, "configuration");
    return new ExtraRun(
        text(execution, "id"),
        configuration.flatMap(e -> child(e, "systemPropertyVariables")).stream()
            .flatMap(e -> children(e, "*").stream())
            .map(e -> "-D" + e.getTagName() + "=" + e.getTextContent().strip())
            .toList(),
        configuration.flatMap(e -> child(e, "includes")).stream()
            .flatMap(e -> children(e, "include").stream())
            .map(e -> e.getTextContent().strip())
            .toList());
  }

  /** Returns the poms and the settings of Maven: what only a full build understands. */
  List<Path> plumbing() throws IOException {
    List<Path> files = new ArrayList<>(filesBelow(home.resolve(".mvn")));
    files.add(home.resolve("pom.xml"));
    modules.forEach(module -> files.add(module.root().resolve("pom.xml")));
    return files;
  }

  static List<Path> jarsIn(Path folder) throws IOException {
    return filesBelow(folder).stream().filter(file -> file.toString().endsWith(".jar")).toList();
  }

  /** Returns the files below a folder in a fixed order; none if it does not exist. */
  static List<Path> filesBelow(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static Element parse(Path file) throws IOException {
    try {
      return DocumentBuilderFactory.newDefaultInstance()
          .newDocumentBuilder()
          .parse(file.toFile())
          .getDocumentElement();
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
  }

  private static String text(Element parent, String name) {
    return child(parent, name).map(e -> e.getTextContent().strip()).orElse("");
  }

  private static Optional<Element> child(Element parent, String name) {
    return children(parent, name).stream().findFirst();
  }

  /** Returns the child elements called {@code name}, or all of them for {@code *}. */
  private static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element
          && (name.equals("*") || element.getTagName().equals(name))) {
        found.add(element);
      }
    }
    return found;
  }
}
