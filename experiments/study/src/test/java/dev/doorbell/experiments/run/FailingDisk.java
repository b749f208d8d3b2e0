package dev.doorbell.experiments.run;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A disk on which one of so many calls fails, by seed: to open, to read, to write (a part is there
 * then), to force, to truncate and to close.
 */
public final class FailingDisk extends Disk {
  private final SplittableRandom random;
  private final int oneOf;
  private int failures;

  public FailingDisk(long seed, int oneOf) {
    this.random = new SplittableRandom(seed);
    this.oneOf = oneOf;
  }

  public int failures() {
    return failures;
  }

  private boolean strikes() {
    boolean struck = random.nextInt(oneOf) == 0;
    failures += struck ? 1 : 0;
    return struck;
  }

  private static IOException failure(Path path) {
    return new FileSystemException(path.toString(), null, "Input/output error");
  }

  @Override
  File open(Path path, OpenOption... options) throws IOException {
    if (strikes()) {
      throw failure(path);
    }
    File file = super.open(path, options);
    return (File)
        Proxy.newProxyInstance(
            File.class.getClassLoader(),
            new Class<?>[] {File.class},
            (_, method, arguments) -> call(path, file, method, arguments));
  }

  private @Nullable Object call(Path path, File file, Method method, Object[] arguments)
      throws Throwable {
    if (!method.getName().equals("length") && strikes()) {
      if (method.getName().equals("write")) {
        ByteBuffer bytes = (ByteBuffer) arguments[0];
        file.write(bytes.slice(bytes.position(), random.nextInt(bytes.remaining() + 1)));
      } else if (method.getName().equals("close")) {
        file.close();
      }
      throw failure(path);
    }
    if (method.getName().equals("force")) {
      return null; // nobody cuts the power here
    }
    try {
      return method.invoke(file, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
