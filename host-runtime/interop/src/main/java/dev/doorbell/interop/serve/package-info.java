/** A software HCA as a process of its own: the server, its clients, and a benchmark of it. */
@NullMarked
package dev.doorbell.interop.serve;

import org.jspecify.annotations.NullMarked;
