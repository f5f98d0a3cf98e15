// Sums over the whole run, quick to ask for at any scale.

// The first index of the least and of the greatest value within a range, by a pyramid of eights.
class Extremes {
  constructor(values) {
    this.values = values;
    this.levels = [];
    let below = null;
    for (let count = values.length; count > 8; count = Math.ceil(count / 8)) {
      const size = Math.ceil(count / 8);
      const level = { least: new Int32Array(size), most: new Int32Array(size) };
      for (let i = 0; i < size; ++i) {
        let least = below ? below.least[8 * i] : 8 * i;
        let most = below ? below.most[8 * i] : 8 * i;
        for (let j = 8 * i + 1; j < Math.min(8 * i + 8, count); ++j) {
          const low = below ? below.least[j] : j;
          const high = below ? below.most[j] : j;
          if (values[low] < values[least]) least = low;
          if (values[high] > values[most]) most = high;
        }
        level.least[i] = least;
        level.most[i] = most;
      }
      this.levels.push(level);
      below = level;
    }
  }

  // Over [first, last], both within the values; the answer is in `least` and `most`.
  find(first, last) {
    const { values } = this;
    let least = first;
    let most = first;
    const look = (low, high) => {
      if (values[low] < values[least] || (values[low] === values[least] && low < least)) least = low;
      if (values[high] > values[most] || (values[high] === values[most] && high < most)) most = high;
    };
    let from = first;
    let to = last + 1;
    let level = -1;
    // At each level the ends that do not fill a bucket of the next one, and then the rest a level higher.
    for (; from < to; ++level) {
      const here = this.levels[level];
      const visit = (i) => (here ? look(here.least[i], here.most[i]) : look(i, i));
      if (level + 1 >= this.levels.length) {
        while (from < to) visit(from++);
        break;
      }
      while (from < to && from % 8) visit(from++);
      while (from < to && to % 8) visit(--to);
      from /= 8;
      to /= 8;
    }
    this.least = least;
    this.most = most;
  }
}

// Allocated bytes after each number of events, and their division into groups. A moment is that number, 0 to `events`.
class Sums {
  constructor(device) {
    const { blocks, events } = device;
    this.device = device;
    this.total = new Float64Array(events + 1);
    let sum = 0;
    for (let i = 0; i < blocks.count && blocks.born[i] === OLDER; ++i) sum += blocks.size[i];
    this.total[0] = sum;
    for (let event = 0; event < events; ++event) {
      const change = blocks.change[event];
      if (change > 0) sum += blocks.size[change - 1];
      else if (change < 0) sum -= blocks.size[-change - 1];
      this.total[event + 1] = sum;
    }
    this.extremes = new Extremes(this.total);
  }

  // groupOfOwner: for each owner a number below `groups`.
  group(groupOfOwner, groups) {
    const { blocks, events } = this.device;
    this.groups = groups;
    this.groupOf = new Uint8Array(blocks.count);
    for (let i = 0; i < blocks.count; ++i) this.groupOf[i] = groupOfOwner[blocks.owner[i]];
    // Every 32nd moment; those between are told from it.
    this.kept = new Float64Array((Math.floor(events / 32) + 1) * groups);
    const now = new Float64Array(groups);
    for (let i = 0; i < blocks.count && blocks.born[i] === OLDER; ++i) now[this.groupOf[i]] += blocks.size[i];
    for (let event = 0; event <= events; ++event) {
      if (event % 32 === 0) this.kept.set(now, (event / 32) * groups);
      if (event < events) this.step(event, now, 0);
    }
  }

  step(event, into, at) {
    const change = this.device.blocks.change[event];
    if (change > 0) into[at + this.groupOf[change - 1]] += this.device.blocks.size[change - 1];
    else if (change < 0) into[at + this.groupOf[-change - 1]] -= this.device.blocks.size[-change - 1];
  }

  // Writes the groups' bytes at that moment from into[at] on.
  at(moment, into, at = 0) {
    const kept = Math.floor(moment / 32);
    for (let i = 0; i < this.groups; ++i) into[at + i] = this.kept[kept * this.groups + i];
    for (let event = kept * 32; event < moment; ++event) this.step(event, into, at);
  }
}
