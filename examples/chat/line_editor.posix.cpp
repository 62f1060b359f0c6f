#include "line_editor.hpp"

#include "common/interrupts.hpp"
#include "common/notices.hpp"
#include "common/output.hpp"
#include "common/standard_streams.hpp"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <new>
#include <utility>

namespace llamavisor::chat {

namespace {

constexpr char ctrl_c = 3;

/// libedit reads characters as the locale has them. A bare environment would make every umlaut two
/// characters, so UTF-8 stands in.
void use_unicode() {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

class LineEditor::Impl {
 public:
  Impl(const cli::Interrupts& interrupts, cli::Notices& notices, HistoryFile file);
  ~Impl();
  Line next();

 private:
  static char* prompt(EditLine*) {
    static char text[] = "> ";
    return text;
  }
  static int read_character(EditLine* editor, wchar_t* character);

  void redraw();
  bool wait_for_key();
  int read_key(wchar_t& character);
  void remember(const std::string& line);

  const cli::Interrupts& interrupts_;
  cli::Notices& notices_;
  HistoryFile file_;
  EditLine* editor_;
  History* history_;
  bool interrupted_ = false;
};

LineEditor::Impl::Impl(const cli::Interrupts& interrupts, cli::Notices& notices, HistoryFile file)
    : interrupts_(interrupts), notices_(notices), file_(std::move(file)) {
  use_unicode();
  // The prompt must not end up in a file.
  auto* screen = cli::is_terminal(STDOUT_FILENO) ? stdout : stderr;
  editor_ = el_init("llamavisor-chat", stdin, screen, stderr);
  history_ = history_init();
  if (!editor_ || !history_) throw std::bad_alloc();
  HistEvent event;
  history(history_, &event, H_SETSIZE, static_cast<int>(HistoryFile::most_lines));
  history(history_, &event, H_SETUNIQUE, 1);
  for (const auto& line : file_.load())
    history(history_, &event, H_ENTER, line.c_str());
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_PROMPT, &prompt);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, &::history, history_);
  el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // Resizing and Ctrl-Z are libedit's. The signals that end something never reach its handlers:
  // `Interrupts` has them blocked.
  el_set(editor_, EL_SIGNAL, 1);
  el_set(editor_, EL_GETCFN, &read_character);
  el_source(editor_, nullptr);
}

LineEditor::Impl::~Impl() {
  el_end(editor_);
  history_end(history_);
}

Line LineEditor::Impl::next() {
  interrupted_ = false;
  int length = 0;
  // Before the prompt is shown: libedit does it after, and what is typed in between, such as
  // Ctrl-D, would be the terminal's own.
  el_set(editor_, EL_PREP_TERM, 1);
  const char* text = el_gets(editor_, &length);
  if (interrupted_) {
    cli::write_error("^C\n");
    return {Line::Kind::interrupted};
  }
  if (!text || length <= 0) {
    cli::write_error("\n");
    return {Line::Kind::end};
  }
  std::string line(text, static_cast<std::size_t>(length));
  if (line.back() == '\n') line.pop_back();
  remember(line);
  return {Line::Kind::text, std::move(line)};
}

void LineEditor::Impl::remember(const std::string& line) {
  if (line.find_first_not_of(' ') == std::string::npos) return;
  HistEvent event;
  history(history_, &event, H_ENTER, line.c_str());
  file_.append(line);
}

/// As libedit wants it: 1 is a character, 0 the end, -1 an error that gives up the line.
int LineEditor::Impl::read_character(EditLine* editor, wchar_t* character) {
  void* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return static_cast<Impl*>(self)->read_key(*character);
}

/// The line again, below what has something to say.
void LineEditor::Impl::redraw() {
  cli::write_error("\r\x1b[K");
  notices_.show();
  el_set(editor_, EL_REFRESH);
}

/// False when a signal came first.
bool LineEditor::Impl::wait_for_key() {
  for (;;) {
    pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                      {.fd = interrupts_.descriptor(), .events = POLLIN, .revents = 0},
                      {.fd = notices_.descriptor(), .events = POLLIN, .revents = 0}};
    if (::poll(waits, 3, -1) < 0) {  // resized, or back from Ctrl-Z
      redraw();
      continue;
    }
    if (waits[1].revents) return false;
    if (waits[2].revents) redraw();
    if (waits[0].revents) return true;
  }
}

int LineEditor::Impl::read_key(wchar_t& character) {
  std::mbstate_t state{};
  for (;;) {
    if (!wait_for_key()) break;
    char byte = 0;
    const auto got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return 0;
    if (byte == ctrl_c) break;
    const auto used = std::mbrtowc(&character, &byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) continue;  // more bytes of it are to come
    if (used != static_cast<std::size_t>(-1)) return 1;
    state = {};  // not of this locale: passed over
  }
  interrupted_ = true;
  errno = EINTR;
  return -1;
}

LineEditor::LineEditor(const cli::Interrupts& interrupts, cli::Notices& notices,
                       HistoryFile history)
    : impl_(std::make_unique<Impl>(interrupts, notices, std::move(history))) {}

LineEditor::~LineEditor() = default;

Line LineEditor::next() {
  return impl_->next();
}

}  // namespace llamavisor::chat
