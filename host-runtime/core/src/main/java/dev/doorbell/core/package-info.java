/** Formats and contracts of the host runtime; depends on nothing native and on no back end. */
@NullMarked
package dev.doorbell.core;

import org.jspecify.annotations.NullMarked;
