package dev.doorbell.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * javac in this process: classes come back as bytes, so that a failed compilation changes no file.
 */
final class Compiler {
  /**
   * A compiled class.
   *
   * @param name its internal name
   * @param source the file that it was compiled from
   */
  record Output(String name, Path source, byte[] bytes) {}

  private final JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
  private final String release;

  Compiler(String release) {
    this.release = release;
  }

  /**
   * Compiles the sources.
   *
   * @param sourcePath folders in which javac finds the sources of further classes, which it
   *     compiles as well
   * @param hidden internal names of classes in the jars of the class path that no longer exist
   * @throws Failure with javac's messages if the sources do not compile
   */
  List<Output> compile(
      Collection<Path> sources, List<Path> sourcePath, List<Path> classPath, Set<String> hidden)
      throws IOException {
    List<String> options =
        new ArrayList<>(
            List.of(
                "-g",
                "-proc:none",
                "-implicit:class",
                "-nowarn",
                "-Xlint:none",
                "--release",
                release));
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files =
        javac.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      files.setLocationFromPaths(StandardLocation.CLASS_PATH, classPath);
      files.setLocationFromPaths(StandardLocation.SOURCE_PATH, sourcePath);
      Outputs outputs = new Outputs(files, hidden);
      if (!javac
          .getTask(
              messages, outputs, null, options, null, files.getJavaFileObjectsFromPaths(sources))
          .call()) {
        throw new Failure(Failure.COMPILATION, messages.toString().strip());
      }
      return outputs.all();
    }
  }

  private static final class Outputs extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Set<String> hidden;
    private final Map<String, Pending> pending = new TreeMap<>();

    private record Pending(Path source, ByteArrayOutputStream bytes) {}

    Outputs(StandardJavaFileManager files, Set<String> hidden) {
      super(files);
      this.hidden = hidden;
    }

    List<Output> all() {
      return pending.entrySet().stream()
          .map(
              e ->
                  new Output(e.getKey(), e.getValue().source(), e.getValue().bytes().toByteArray()))
          .toList();
    }

    @Override
    public Iterable<JavaFileObject> list(
        JavaFileManager.Location location,
        String packageName,
        Set<JavaFileObject.Kind> kinds,
        boolean recurse)
        throws IOException {
      Iterable<JavaFileObject> all = super.list(location, packageName, kinds, recurse);
      if (location != StandardLocation.CLASS_PATH || hidden.isEmpty()) {
        return all;
      }
      List<JavaFileObject> visible = new ArrayList<>();
      for (JavaFileObject each : all) {
        if (!hidden.contains(inferBinaryName(location, each).replace('.', '/'))) {
          visible.add(each);
        }
      }
      return visible;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location,
        String className,
        JavaFileObject.Kind kind,
        FileObject sibling) {
      Pending output = new Pending(fileManager.asPath(sibling), new ByteArrayOutputStream());
      pending.put(className.replace('.', '/'), output);
      return new SimpleJavaFileObject(URI.create("memory:///" + className), kind) {
        @Override
        public OutputStream openOutputStream() {
          return output.bytes();
        }
      };
    }
  }
}
