/** An opened device of any provider: its port and GID. */
@NullMarked
package dev.doorbell.verbs.device;

import org.jspecify.annotations.NullMarked;
