;;; semsearch.el --- Search by meaning with semsearch  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: matching, tools

;;; Commentary:

;; `M-x semsearch' asks a question, `M-x semsearch-similar' finds passages similar to the current line's.
;; The hits are in a buffer as those of `grep': `next-error' (M-g n) visits them one after the other.

;;; Code:

(require 'grep)
(require 'subr-x)

(defgroup semsearch nil
  "Search by meaning."
  :group 'tools)

(defcustom semsearch-command '("semsearch")
  "The program, and arguments before its command."
  :type '(repeat string))

(defcustom semsearch-options '("-k" "20")
  "Options of `semsearch query' and `semsearch similar'."
  :type '(repeat string))

(defvar semsearch-history nil
  "Questions asked before.")

(defvar-local semsearch--arguments nil
  "The command and its arguments whose answer the buffer shows.")

(defvar semsearch-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "g" #'semsearch-again)
    map)
  "Keys in the buffer of hits.")

(define-derived-mode semsearch-mode grep-mode "Semsearch"
  "The hits of a search, as those of `grep'."
  (setq-local compilation-error-regexp-alist '(("^\\(.+?\\):\\([1-9][0-9]*\\):\\([1-9][0-9]*\\):" 1 2 3)))
  (setq-local compilation-error-screen-columns nil)
  (setq-local revert-buffer-function (lambda (&rest _) (semsearch-again))))

(defun semsearch--finished (process stderr)
  "Show the hits of PROCESS, which has ended, and its messages in STDERR."
  (let ((buffer (process-buffer process))
        (said (with-current-buffer stderr (string-trim (buffer-string))))
        (status (process-exit-status process)))
    (kill-buffer stderr)
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (let ((is-empty (= (buffer-size) 1)))
          (goto-char (point-min))
          (setq mode-line-process (format ":exit [%d]" status))
          (if is-empty
              (kill-buffer buffer)
            (setq next-error-last-buffer buffer)
            (display-buffer buffer)))))
    (unless (string-empty-p said)
      (message "%s" said))))

(defun semsearch--run (arguments)
  "Start semsearch with ARGUMENTS, a command first, in the current folder.
No shell is used; the hits are shown once the process has ended."
  (let* ((folder default-directory)
         (buffer (get-buffer-create "*semsearch*"))
         (running (get-buffer-process buffer))
         (stderr (generate-new-buffer " *semsearch-stderr*" t))
         (process-environment (cons "NO_COLOR=1" process-environment)))
    (when running
      (set-process-sentinel running #'ignore)
      (delete-process running))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert "\n")) ; `next-error' begins after the line where point is
      (setq default-directory folder)
      (semsearch-mode)
      (setq semsearch--arguments arguments
            header-line-format (string-replace "%" "%%" (string-join arguments ": "))
            mode-line-process ":run"))
    (condition-case problem
        (let ((process
               (make-process
                :name "semsearch" :buffer buffer :stderr stderr :connection-type 'pipe :noquery t :coding 'utf-8
                :command (append semsearch-command
                                 (list (car arguments) "--format" "vimgrep")
                                 semsearch-options (list "--") (cdr arguments))
                :filter #'semsearch--insert
                :sentinel (lambda (process _event)
                            (unless (process-live-p process)
                              (while (accept-process-output (get-buffer-process stderr)))
                              (semsearch--finished process stderr))))))
          (set-process-sentinel (get-buffer-process stderr) #'ignore)
          (process-send-eof process)
          process)
      (file-error
       (kill-buffer stderr)
       (kill-buffer buffer)
       (user-error "Cannot run %s (%s); set semsearch-command"
                   (car semsearch-command) (error-message-string problem))))))

(defun semsearch--insert (process text)
  "Add the TEXT that PROCESS prints to the buffer of hits."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (let ((inhibit-read-only t))
        (goto-char (point-max))
        (insert text)))))

;;;###autoload
(defun semsearch (question)
  "Search the index of the current folder for QUESTION."
  (interactive (list (read-string "Search for: " nil 'semsearch-history)))
  (when (string-blank-p question)
    (user-error "There is no question"))
  (semsearch--run (list "query" question)))

;;;###autoload
(defun semsearch-similar ()
  "Search for passages similar to the one at the current line of an indexed file."
  (interactive)
  (unless buffer-file-name
    (user-error "This buffer has no file"))
  (semsearch--run (list "similar" (format "%s:%d" (expand-file-name buffer-file-name) (line-number-at-pos nil t)))))

(defun semsearch-again ()
  "Search again for what this buffer shows."
  (interactive)
  (semsearch--run semsearch--arguments))

(provide 'semsearch)
;;; semsearch.el ends here
