/** A software HCA as a process of its own: the server and its clients. */
@NullMarked
package dev.doorbell.interop.serve;

import org.jspecify.annotations.NullMarked;
